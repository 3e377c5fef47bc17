// Precedes the source of a program that is run with a grid and a block of invocations. BLOCK_X, BLOCK_Y and BLOCK_Z,
// the size of the block, are defined when the program is run.
layout(local_size_x = BLOCK_X, local_size_y = BLOCK_Y, local_size_z = BLOCK_Z) in;
