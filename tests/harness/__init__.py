"""What the Python tests share: values that can be compared, the mdtest runner, known failures. Start at `mdtest.py`."""
