// Package configs is every setting of the program in one checked value.
//
// In: a YAML file, environment variables, and settings from flags; a later one
// wins over an earlier one, and each over the default.
//
// Out: a [Config] that was validated as a whole; every error names the setting,
// its value and where it came from.
//
// Never: opens, dials or builds anything; internal/wire does. It holds no secret
// either: an API key is read from the environment variable or file that
// api_key_env or api_key_file, under llm and qdrant, names, when it is needed.
//
// configs/waymark.yaml is the example with every setting at its default,
// configs/qdrant.yaml one for a deployment with Qdrant.
package configs
