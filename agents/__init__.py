"""Everything that answers a question. The evaluator imports `agents.user_config`; readers start at `crag_agent`."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's threads would wait busily: 0.3 CPU seconds a process
