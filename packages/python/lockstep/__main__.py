"""`python -m lockstep` is `lockstep`."""
from lockstep import main

main()
