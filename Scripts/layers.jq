# The rules of the rank table. Input: $dumps[0], the manifest as `swift package dump-package` prints it;
# $rows, the table; $uses, the import lines under Sources. Output: one sentence per violation.

def quoted: "'" + . + "'";
def may_import($from; $to): $from == "bridge" or $to == "shared" or $from == $to;

($dumps[0].targets | map(select(.type != "test" and ((.path // "") | startswith("Tests/") | not)))) as $ours
| ($dumps[0].targets | map({key: .name, value: .}) | from_entries) as $manifest
| ($rows | map({key: .target, value: .}) | from_entries) as $table
| def edges: .name as $from | .dependencies[] | (.target // .byName // empty)[0]
    | select($manifest[.]) | {from: $from, to: .};
  def outside: .name as $from | .dependencies[]
    | ((.product // empty)[0], ((.byName // empty)[0] | select($manifest[.] | not))) | {from: $from, module: .};

[
  # The table and the manifest name the same targets.
  ( $ours[] | .name | select($table[.] | not)
    | "target \(quoted) is missing from the rank table. Add a row for it to docs/internals/architecture.md." ),
  ( $rows[] | select(.state == "here" and ($manifest[.target] | not))
    | "target \(.target | quoted) is in the rank table but not in the manifest."
      + " Remove its row, or mark it 'to come'." ),
  ( $rows[] | select(.state == "to come" and $manifest[.target])
    | "target \(.target | quoted) is marked 'to come' but is in the manifest. Mark it 'here'." ),
  ( $rows[] | select((.state | IN("here", "to come") | not) or (.side | IN("client", "server", "shared", "bridge") | not))
    | "the row of \(.target | quoted) has side \(.side | quoted) and state \(.state | quoted)."
      + " Sides are client, server, shared, bridge; states are here and to come." ),
  ( $rows | group_by(.target)[] | select(length > 1)
    | "target \(.[0].target | quoted) has \(length) rows. Keep one." ),

  # Edges go down, and stay on their side.
  ( $ours[] | edges | $table[.from] as $from | $table[.to] as $to | select($from and $to)
    | if $to.rank >= $from.rank then
        "\(.from) (rank \($from.rank)) depends on \(.to) (rank \($to.rank)): a target imports lower ranks only."
          + " Remove the dependency, or move the shared part to a lower rank."
      elif may_import($from.side; $to.side) | not then
        "\(.from) (\($from.side)) depends on \(.to) (\($to.side)): client and server meet only in shared targets."
          + " Remove the dependency; only bridges import both sides."
      else empty end ),
  ( $ours[] | edges | select(($manifest[.to].path // "") | startswith("Tests/"))
    | "\(.from) depends on \(.to), which is test support. Move what it needs into Sources." ),

  # Modules of other packages.
  ( $ours[] | outside | . as $use | select($table[.from] and ($table[.from].outside | index($use.module) | not))
    | "\(.from) uses \(.module), which its row in the rank table does not allow."
      + " Remove the dependency, or add \(.module) to the row's 'outside' column and say why in the change." ),

  # Imports are declared.
  ( $uses[] | . as $use | select($manifest[.target] and $manifest[.module] and .target != .module)
    | select([$manifest[.target] | edges | .to] | index($use.module) | not)
    | "Sources/\(.file) imports \(.module), which the manifest does not declare for \(.target)."
      + " Remove the import, or declare the dependency in Package.swift." )
]
| unique[]
