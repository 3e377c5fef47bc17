nan nan nan 0
1 0 0 1000
