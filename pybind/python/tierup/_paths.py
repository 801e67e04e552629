"""Where the texts of library functions stand that are written while a program runs."""

import os

#: With the kind of text in place of `%s`. What lies below the library's folder is the library's.
WRITTEN = os.path.join(os.path.dirname(__file__), "lib", "<%s>")
