"""What notebooks show: HTML with tables and drawings, without scripts.

Colours come from the page around it, so that it is legible on light and dark ones. It
may use layouts and meshes, and asks no rank for anything: nothing is sent or computed.
Begin with `_html.py`, the table and the style that all have.
"""
