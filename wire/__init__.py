"""What travels between the parts: messages, rows, codecs, frames, chance and errors. Imports nothing of ours."""
