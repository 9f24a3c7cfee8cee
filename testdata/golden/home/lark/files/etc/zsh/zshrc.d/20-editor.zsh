export EDITOR=vim VISUAL=vim
