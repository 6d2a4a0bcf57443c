"""The one time limit of the tests' scripts: for a command that hangs, and for nothing else.

A slow machine must not fail a test, so it is far above what any command takes, and below ctest's own limit
(CMakePresets.json) so that the script can name the command.
"""
SECONDS = 1500
