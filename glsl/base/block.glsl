// Put in front of a program that is run with a block: its size is known at the run.
layout(local_size_x = BLOCK_X, local_size_y = BLOCK_Y, local_size_z = BLOCK_Z) in;
