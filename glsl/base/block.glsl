// Comes before the source of a program that is run with a grid and a block: the size of the block is known when it
// runs.
layout(local_size_x = BLOCK_X, local_size_y = BLOCK_Y, local_size_z = BLOCK_Z) in;
