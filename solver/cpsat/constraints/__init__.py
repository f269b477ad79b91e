"""One file per law; each turns a law of docs/model.md, section 5, into rows."""
