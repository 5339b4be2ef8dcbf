#!/usr/bin/env python3
"""notebook.py - executes a notebook, as Jupyter does, in the directory of its traces.

usage: notebook.py NOTEBOOK OUT      OUT gets the notebook with what its cells printed and drew
"""
import base64
import sys

import nbclient
import nbformat

notebook = nbformat.read(sys.argv[1], 4)
nbclient.NotebookClient(notebook, timeout=200, kernel_name="python3").execute()
pictures = printed = 0
for cell in notebook.cells:
    cell.metadata.pop("execution", None)        # when, on whose clock
    for output in cell.get("outputs", ()):
        if output.output_type == "stream" and output.name == "stderr":
            sys.exit("a cell complains: " + output.text)
        data = output.get("data", {})
        pictures += len(base64.b64decode(data.get("image/png", ""))) > 4000
        printed += "text/html" in data or output.output_type == "stream"
for word in "ipython", "codemirror_mode", "version":
    notebook.metadata.language_info.pop(word, None)
nbformat.write(notebook, sys.argv[2])
print(pictures, "pictures,", printed, "tables and texts")
