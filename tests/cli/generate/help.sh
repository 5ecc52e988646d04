prony generate --help
