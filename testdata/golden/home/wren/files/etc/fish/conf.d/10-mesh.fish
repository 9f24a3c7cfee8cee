# Interactive fish, for everybody; a user's own config.fish comes after it and wins.
if status is-interactive
set -g fish_greeting ''
abbr --add -- gs 'git status'
end
