# shellcheck shell=bash
# Sourced by ../lockstep: `./lockstep new NAME` instantiates templates/family/ into a family of that
# name.
#
# In the template the family is called family_name, and its types FamilyName. The list of families
# in kernels/families.bzl gives it its BUILD targets.

# What a family cannot be called: words of C++, and names that mean something else in lockstep's own
# namespaces.
readonly RESERVED_NAMES=" alignas alignof and asm auto bool break case catch char class compl
 concept const constexpr continue decltype default delete do double else enum explicit export
 extern false final float for friend goto if import inline int long main module mutable namespace
 new noexcept not nullptr operator or override private protected public register requires return
 short signed sizeof static struct switch template this thread throw true try typedef typeid
 typename union unsigned using virtual void volatile wchar_t while xor std kernels reference
 properties lockstep test "

# my_family -> MyFamily
camel_case() {
  local part out=
  for part in ${1//_/ }; do out+=${part^}; done
  echo "$out"
}

# Where in the folder $1 (templates/family) its files are, one path a line.
template_files() { (cd "$1" && find . -type f | sed 's|^\./||' | LC_ALL=C sort); }

# Why no family can be called $1; nothing when one can.
objection_to_spelling() {
  local name=$1
  if [[ ! $name =~ ^[a-z][a-z0-9]*(_[a-z0-9]+)*$ ]]; then
    echo "'$name' is no name for a family: small letters, digits and single underscores," \
      "a letter first, as in dot_product"
  elif ((${#name} > 40)); then
    echo "'$name' is longer than 40 letters"
  elif [[ $name == family_name || $RESERVED_NAMES =~ [[:space:]]${name}[[:space:]] ]]; then
    echo "'$name' is taken: it means something else in C++ or in Lockstep"
  fi
}

# Why a family in the tree $1 cannot be called $2; nothing when it can.
objection_to_name() {
  local tree=$1 name=$2 file type spelling
  spelling=$(objection_to_spelling "$name")
  if [[ $spelling ]]; then
    echo "$spelling"
  elif grep -qE "^    \"$name\",\$" "$tree/kernels/families.bzl"; then
    echo "there is a family '$name' already"
  else
    # The names of other targets, and of what they make: x, x_interface, x_test, x_gpu_test.
    file=$(grep -lE "name = \"$name(_interface|_test|_gpu_test|_test_objects)?\"" \
      "$tree"/{kernels,reference,properties,tests,tests/known_bad}/BUILD | head -1)
    [[ ! $file ]] || { echo "'$name' is taken: ${file#"$tree"/} has a target of that name";
      return; }
    type=$(camel_case "$name")
    file=$(grep -lE -e "LaunchStatus (check_)?$name\\(" \
      -e "(struct|class|using|enum class) $type(Case|Shape)?\\b" \
      "$tree"/{kernels,properties}/*.h 2> /dev/null | head -1)
    [[ ! $file ]] || echo "'$name' is taken: ${file#"$tree"/} declares $name or $type"
  fi
}

# Why no code can be in the namespace $1; nothing when it can.
objection_to_namespace() {
  if [[ ! $1 =~ ^[a-zA-Z][a-zA-Z0-9_]*(::[a-zA-Z][a-zA-Z0-9_]*)*$ ]]; then
    echo "'$1' is no namespace: names with :: between them, as in acme::linear_algebra"
  elif [[ $1 =~ ^(std|lockstep)(::|$) ]]; then
    echo "'$1' is taken: it is of the C++ library or of Lockstep"
  fi
}

# instantiate FILE TARGET NAME TYPE [NAMESPACE]: a file of a template, in a namespace in place of
# lockstep. Where it cannot be written whole it is not there.
instantiate() {
  local edits="s/FamilyName/$4/g; s/family_name/$3/g"
  if [[ ${5:-} ]]; then
    # What is of Lockstep keeps its names there.
    edits+="; s/^namespace lockstep::\\([a-z_]*\\) {\$/namespace $5::\\1 {"
    edits+="\\nusing namespace lockstep;\\nusing namespace lockstep::\\1;/"
    edits+="; s/^}  \/\/ namespace lockstep::/}  \/\/ namespace $5::/"
  fi
  sed "$edits" "$1" > "$2" && return
  say "$2 cannot be written"
  rm -f "$2"
  return 1
}

# Instantiates the template in the tree $1 as family $2. Writes all files or none, and overwrites
# nothing.
new_family() {
  local tree=$1 name=$2 type objection file target line written=()
  local list=$tree/kernels/families.bzl template=$tree/templates/family
  objection=$(objection_to_name "$tree" "$name")
  [[ ! $objection ]] || { say "$objection"; return "$EXIT_USAGE"; }
  grep -qx ']' "$list" || { say "$list has no line ']' that ends the list of families"; return 1; }
  type=$(camel_case "$name")
  while read -r file; do
    target=$tree/${file//family_name/$name}
    [[ ! -e $target ]] || { say "${target#"$tree"/} exists already; nothing was written";
      return "$EXIT_USAGE"; }
  done < <(template_files "$template")
  while read -r file; do
    target=$tree/${file//family_name/$name}
    instantiate "$template/$file" "$target" "$name" "$type" || { rm -f "${written[@]}";
      say "nothing was written"; return 1; }
    written+=("$target")
  done < <(template_files "$template")
  line=$(grep -nx ']' "$list" | head -1 | cut -d: -f1)
  sed -i "${line}i\\    \"$name\"," "$list" || { rm -f "${written[@]}";
    say "$list cannot be written; nothing was written"; return 1; }
  printf '%s\n' "${written[@]#"$tree"/}"
  echo "kernels/families.bzl: \"$name\""
}

# Instantiates the templates in the folder $1 as the folder $3 of the project in $2: a family that
# CMake and Bazel build, in the namespace $4, else in lockstep. Writes all files or none.
new_project_family() {
  local templates=$1 project=$2 name=$3 namespace=${4:-} type objection part file target
  local written=()
  objection=$(objection_to_spelling "$name")
  [[ $objection || ! $namespace ]] || objection=$(objection_to_namespace "$namespace")
  [[ ! $objection ]] || { say "$objection"; return "$EXIT_USAGE"; }
  [[ ! -e $project/$name ]] || { say "$name exists already; nothing was written";
    return "$EXIT_USAGE"; }
  type=$(camel_case "$name")
  for part in project family; do
    [[ -d $templates/$part && $(template_files "$templates/$part") ]] ||
      { say "$templates/$part is missing: the installation is not whole"; return 1; }
  done
  for part in project family; do
    while read -r file; do
      target=$name/${file//family_name/$name}
      target=${target%.template}
      if ! mkdir -p "$project/$(dirname "$target")" ||
        ! instantiate "$templates/$part/$file" "$project/$target" "$name" "$type" \
          "$namespace"; then
        rm -rf "${project:?}/$name"
        say "nothing was written"
        return 1
      fi
      written+=("$target")
    done < <(template_files "$templates/$part")
  done
  printf '%s\n' "${written[@]}"
  list_to_fill_in "$project/$name" "$name" "$(installed_guide "$templates")" "$name/"
  echo
  echo "With CMake:  add_subdirectory($name), and ctest -R '^${name}_(known_bad_)?test'"
  echo "With Bazel:  bazel test //$name:${name}_test //$name:${name}_known_bad_test"
}

# The guide that was installed with the templates in the folder $1; without one, its place in a
# checkout.
installed_guide() {
  local page=guide/first_family.md
  local installed=$1/../../doc/lockstep/$page
  if [[ -e $installed ]]; then realpath "$installed"; else echo "docs/$page"; fi
}

# The places that a family $2 in the folder $1 has to fill in, in their order; the page $3 is the
# guide. Each path begins with $4, the folder as seen from the user's.
list_to_fill_in() {
  local tree=$1 name=$2 guide=$3 below=${4:-}
  echo
  echo "To fill in, in this order ($guide):"
  # A sentence may go on in the comment lines below it.
  (cd "$tree" && awk -v below="$below" '
    function finish() { if (text != "") print "  " where ": " text; text = "" }
    FNR == 1 { finish() }
    /FILL IN: / {
      finish()
      where = below FILENAME ":" FNR
      text = $0
      sub(/.*FILL IN: /, "", text)
      next
    }
    text != "" && text !~ /[.?]$/ && /^ *\/\/ / {
      line = $0
      sub(/^ *\/\/ /, "", line)
      text = text " " line
      next
    }
    { finish() }
    END { finish() }' "kernels/$name.h" reference/"$name".{h,cc} "kernels/$name.cu" \
      "properties/$name.cc" \
    "tests/known_bad/$name.cu")
}

# What is left to do after `new_family`, for people.
what_to_fill_in() {
  local tree=$1 name=$2
  list_to_fill_in "$tree" "$name" docs/guide/first_family.md
  echo "  docs/reference/promises.md: each sentence of the header, with the laws that hold it." \
    "//tests:promises_test prints the rows."
  echo "  docs/reference/run.md: the counts of families, of kernels with a planted mistake and of" \
    "negative controls. //tests:readme_test prints them."
  echo
  echo "  ./lockstep test //tests:${name}_test"
  echo "  ./lockstep test //tests/known_bad:${name}_test"
}
