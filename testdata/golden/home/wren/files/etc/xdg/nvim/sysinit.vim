" For everybody; a user's own init.vim or init.lua comes after it and wins.
set shiftwidth=4 softtabstop=4
set expandtab
set number
syntax on
filetype plugin indent on
