"""Data that a command reads unless told otherwise lies beside the repository, and not everybody has it."""

from pathlib import Path

from evaluation.datasets import DatasetError, dataset_files


def check_data_file(path: Path, remedy: str) -> None:
    """Make sure that a file, or the parts of it, is there before anything long begins.

    Args:
        path: The file.
        remedy: Which option names another, for the message.

    Raises:
        DatasetError: it is not there.
    """
    try:
        dataset_files(path)
    except DatasetError as error:
        raise DatasetError(f"{error}; {remedy}") from None
