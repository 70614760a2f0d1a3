"""The checks of scripts/gpu-check, a module for each subject."""
