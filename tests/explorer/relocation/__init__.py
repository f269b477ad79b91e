"""The code of relocations under two leaders: every request is a choice point."""
