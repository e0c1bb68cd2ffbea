import { writeFileSync } from 'node:fs'
import { readCommandLine } from '../../runtime/process/command-line.js'
import { DOCUMENT, writeDocument } from './document.js'
import { measureWay } from './measure.js'
import { treeText, wayText } from './report.js'
import { summarize } from './summary.js'
import { measureTree } from './tree.js'

const USAGE = `usage: npm run way -- [--json FILE] [--write] [--tree | --only-tree]

  --json FILE  also writes the report as JSON
  --write      writes the page of the files, docs/ORDER-WAY.md
  --tree       also reports the sizes of all files of the product
  --only-tree  reports only the sizes, which needs no venue`

/** Lists the files that an order's way leads through. */
const { values } = readCommandLine(USAGE, {
  options: {
    json: { type: 'string' },
    write: { type: 'boolean', default: false },
    tree: { type: 'boolean', default: false },
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
