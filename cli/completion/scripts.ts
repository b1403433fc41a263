/**
 * What a shell is given to read: each time it asks the program itself, by `complete-words`, which prints a candidate a line,
 * `WORD<tab>what it does`, or `:files` where the shell is to offer names of files.
 */

/** A `=` parts words in bash; the program puts them together again. */
const BASH = `_holdoff() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files) compopt -o default 2>/dev/null ;;
      *) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <("\${COMP_WORDS[0]/#\\~/$HOME}" complete-words --shell bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _holdoff holdoff
`;

const ZSH = `#compdef holdoff
(( $+functions[compdef] )) || { autoload -U compinit && compinit }
_holdoff() {
  local line word
  local -a described
  for line in "\${(@f)$(\${~words[1]} complete-words --shell zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      '') ;;
      :files) _files; return ;;
      *) word=\${line%%$'\\t'*}; described+=("\${word//:/\\\\:}:\${line#*$'\\t'}") ;;
    esac
  done
  (( $#described )) && _describe -t values holdoff described
}
compdef _holdoff holdoff
`;

const FISH = `function __holdoff_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] complete-words --shell fish -- $words[2..-1] 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c holdoff -f -a '(__holdoff_complete)'
`;

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];
export const SCRIPTS: Record<Shell, string> = { bash: BASH, zsh: ZSH, fish: FISH };
