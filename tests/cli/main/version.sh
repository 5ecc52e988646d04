prony --version
