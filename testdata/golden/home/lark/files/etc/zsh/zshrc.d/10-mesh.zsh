# Interactive zsh, for everybody; a user's own ~/.zshrc comes after it and wins.
HISTFILE=~/.zsh_history
HISTSIZE=10000
SAVEHIST=10000
setopt hist_ignore_dups hist_ignore_space extended_history
setopt share_history
PROMPT='%n@%m:%~%# '
bindkey -e
typeset -U path
alias -- ll='ls -lh'
autoload -Uz compinit && compinit
. /usr/share/zsh-autosuggestions/zsh-autosuggestions.zsh
. /usr/share/zsh-syntax-highlighting/zsh-syntax-highlighting.zsh
