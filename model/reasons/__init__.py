"""Why a gang waits: kinds, the sentences, the JSON, and the condition on its pods."""
