import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import type { Address } from '../../core/action.js'
import { deploymentSchema } from '../../chain/reads/deployment.js'
import { inProject } from '../../devnet/launcher/binaries.js'
import { askStatement, deploymentPage, statements } from '../support/deployment-page.js'
import { openWorld, type World } from '../support/devnet-world.js'

describe('the keys of docs/GO-LIVE-CONTRACTS.md', () => {
  let world: World
  before(async () => {
    world = await openWorld()
  })
  after(() => world?.anvil.stop())

  it('are all that a deployment file may have, and what the rows of the markets name', () => {
    const [, table = ''] = deploymentPage().split('| key | what it is |')
    const named = [...(table.split('\n\n')[0] ?? '').matchAll(/^\| ((`\w+`(, )?)+) \|/gm)].flatMap(
      ([, keys = '']) => keys.split(', ').map((key) => key.replaceAll('`', '')),
    )
    const { shape } = deploymentSchema.in as unknown as { readonly shape: object }
    const rows = ['data/markets.json', 'docs/operating/markets.json'].flatMap(
      (file) => JSON.parse(readFileSync(inProject(file), 'utf8')) as Record<string, string>[],
    )
    const ofRows = rows.flatMap((row) =>
      ['asset', 'quote_asset', 'trade_module', 'margin_manager'].map((field) => row[field] ?? ''),
    )
    const futures = ['futures_manager', 'future_asset', 'future_trade_module']
    const wanted = new Set([...Object.keys(shape), ...ofRows, ...futures])
    expect(named.toSorted()).to.deep.equal([...wanted].toSorted())
  })

  it('are related as the page states, read from a chain', async () => {
    const stated = statements()
    expect(stated).to.have.length.above(20)
    const at = world.at as unknown as Record<string, Address>
    for (const each of stated) {
      const found = await askStatement(world.client, at, each)
      expect(found, each.text).to.equal(each.answer === 'true' ? 'true' : at[each.answer])
    }
  })
})
