import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { parseAbi } from 'viem'
import type { Address } from '../../core/action.js'
import { deploymentSchema } from '../../chain/reads/deployment.js'
import { inProject } from '../../devnet/launcher/binaries.js'
import { openWorld, type World } from '../support/devnet-world.js'

const page = readFileSync(inProject('docs/GO-LIVE-CONTRACTS.md'), 'utf8')
/** `contract.getter(argument) = answer`, by keys of the deployment file. */
const STATEMENT = /`(\w+)\.(\w+)\((\w*)\) = (\w+)`/g

describe('the keys of docs/GO-LIVE-CONTRACTS.md', () => {
  let world: World
  before(async () => {
    world = await openWorld()
  })
  after(() => world?.anvil.stop())

  it('are all that a deployment file may have, and what the rows of the markets name', () => {
    const [, table = ''] = page.split('| key | what it is |')
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
    const statements = [...page.matchAll(STATEMENT)].map(
      ([text, of = '', getter = '', argument = '', answer = '']) => ({
        text,
        of,
        getter,
        argument,
        answer,
      }),
    )
    expect(statements).to.have.length.above(20)
    const at = world.at as unknown as Record<string, Address>
    for (const { text, of, getter, argument, answer } of statements) {
      const type = answer === 'true' ? 'bool' : 'address'
      const signature = `function ${getter}(${argument === '' ? '' : 'address'}) view returns (${type})`
      const found = await world.client.readContract({
        address: at[of] as Address,
        abi: parseAbi([signature] as readonly string[]),
        functionName: getter,
        args: argument === '' ? [] : [at[argument]],
      })
      const shown = String(found).toLowerCase()
      expect(shown, text).to.equal(answer === 'true' ? 'true' : at[answer])
    }
  })
})
