import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { DOCUMENT, writeDocument } from './document.js'
import { measureWay } from './measure.js'
import { treeText, wayText } from './report.js'
import { summarize } from './summary.js'
import { measureTree } from './tree.js'

/**
 * Lists the files that an order's way leads through: `npm run way -- [--json FILE] [--write] [--tree] [--only-tree]`.
 */
const { values } = parseArgs({
  options: {
    /** Also writes the report as JSON. */
    json: { type: 'string' },
    /** Writes the files of the way into docs/ARCHITECTURE.md. */
    write: { type: 'boolean', default: false },
    /** Also reports the sizes of all files of the product. */
    tree: { type: 'boolean', default: false },
    /** Reports only the sizes, which needs no venue. */
    'only-tree': { type: 'boolean', default: false },
  },
})

const way = values['only-tree']
  ? undefined
  : summarize(await measureWay((line) => console.error(line)))
const tree = values.tree || values['only-tree'] ? measureTree() : undefined
if (way !== undefined) console.log(wayText(way))
if (tree !== undefined) console.log(`\n${treeText(tree)}`)
if (values.json !== undefined)
  writeFileSync(values.json, `${JSON.stringify({ way, tree }, undefined, 2)}\n`)
if (values.write && way !== undefined) {
  writeDocument(way)
  console.log(`\nwritten into ${DOCUMENT}`)
}
