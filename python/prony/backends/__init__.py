"""One program for each framework: the network of model.json, the parameters
of params.json, results as lines that prony reads."""
