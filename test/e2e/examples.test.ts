import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { inProject } from '../../devnet/project-root.js'
import { sharedVenue } from '../support/shared-venue.js'
import { createTrader } from '../support/trader.js'
import type { TestVenue } from '../support/venue.js'

/** What an example prints, and what ends one that would go on for ever. */
interface Expected {
  readonly prints: RegExp
  readonly endsAt?: RegExp
  /** What has to be there for it. */
  readonly given?: (venue: TestVenue) => Promise<() => Promise<unknown>>
}

const examples: Readonly<Record<string, Expected>> = {
  '01-place-order': { prints: /is active: 14000 cNGN open\n.*is cancelled\n$/ },
  '02-follow-book': { prints: /^\d+: .*bid.*, .*ask.*\n/, endsAt: /\n/ },
  '03-take-quote': {
    prints: /the best quote sells .*\n.* is filled\npaid .* settled in 0x[0-9a-f]{64}\n$/s,
    given: async ({ devnet }) => {
      const maker = createTrader(devnet, 1)
      // A price whose reciprocal has an end, so that what is shown to traders crosses it.
      const quote = await maker.place({ side: 'buy', amount: '20000', price: '0.0008' })
      return () => maker.cancel(quote)
    },
  },
  '04-resume': { prints: /^snapshot at \d+.*\nmeanwhile .*\nupdate at .*nothing was missed\n$/s },
  '06-my-orders': {
    prints: /^\d+ orders at \d+\n.* is active, 0 of 14000 filled\n.* is cancelled.*\n$/,
  },
  '07-deposit': {
    prints:
      /^25\.000000 USDC confirmed in (0x[0-9a-f]{64})\ntrade from account \d+\nsent again: still \1\n$/,
  },
  '08-withdraw': { prints: /^5\.000000 USDC confirmed in 0x[0-9a-f]{64}\n$/ },
}

describe('the examples', function () {
  this.timeout(120_000)
  let venue: TestVenue
  before(async function () {
    this.timeout(120_000)
    venue = await sharedVenue()
  })

  it('are all run, here or beside the history’s own test', () => {
    const files = readdirSync(inProject('examples')).filter((name) => /^\d/.test(name))
    const elsewhere = '05-history.ts'
    const here = Object.keys(examples).map((name) => `${name}.ts`)
    expect(files).to.have.members([...here, elsewhere])
  })

  for (const [name, { prints, endsAt, given }] of Object.entries(examples)) {
    it(`${name} does what it says`, async () => {
      const undo = await given?.(venue)
      const file = inProject(`dist/examples/${name}.js`)
      const child = spawn(process.execPath, [file, join(venue.dataDir, 'devnet.json')], {
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let printed = ''
      let failed = ''
      child.stderr.on('data', (text: Buffer) => (failed += text.toString()))
      child.stdout.on('data', (text: Buffer) => {
        printed += text.toString()
        if (endsAt?.test(printed) === true) child.kill('SIGINT')
      })
      const [code] = (await once(child, 'exit')) as [number | null]
      await undo?.()
      expect([code, failed]).to.deep.equal([0, ''])
      expect(printed, printed).to.match(prints)
    })
  }
})
