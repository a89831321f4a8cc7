"""Zoom: the single operators of a few steps, each with its line in the program.

The second pass of `twin` knows in which step the runs part, so it can afford to look at every
operator of that step: name, content of inputs and outputs as digests, state of the generator that a
random one draws from, and the innermost line of the program that led to it. For an operator of the
backward pass that is the line of the forward that made its node, known by the node's sequence
number. The operators of a step are a data flow: each tensor tells its memory by a number, so
the comparison can walk back from a differing event to the operator that first computed something
else from equal inputs, or to the place where something was written that no operator wrote.

A dispatch mode sees the operators, in the thread that trains and in those of the autograd engine.
It calls each operator as it is and hands back what it returned; it costs microseconds an operator,
so it stands there for the chosen steps only. It steps aside in compiled programs, in functorch
transforms and where the program has a dispatch mode of its own, and says so.

source     which line of the program a call comes from
contents   digests of arguments and results, and numbers for memory
log        the operators of one step, as lines of JSON beside the run
mode       the dispatch mode
window     puts the mode there for the chosen steps
"""
