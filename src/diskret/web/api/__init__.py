"""The interface for programs: hand in a file, run a job, fetch what it made. ``diskret serve --api`` opens it.

A program shows its token with every request and sees what is for everybody: the files of a job that its sections call
public, counts, names and messages. There is no way to a hidden value, and none into the page.
"""
