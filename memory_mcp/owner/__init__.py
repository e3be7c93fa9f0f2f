"""Whose data directory is it?"""
