# Interactive Bash, for everybody; a user's own ~/.bashrc comes after it and wins.
HISTSIZE=10000
HISTFILESIZE=10000
HISTCONTROL=ignoreboth
shopt -s histappend checkwinsize
HISTTIMEFORMAT='%F %T '
if ! shopt -oq posix && [ -r /usr/share/bash-completion/bash_completion ]; then
	. /usr/share/bash-completion/bash_completion
fi
