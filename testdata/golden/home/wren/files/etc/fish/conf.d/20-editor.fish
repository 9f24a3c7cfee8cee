set -gx EDITOR nvim
set -gx VISUAL nvim
