import { expect } from 'chai'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { formatUnits } from 'viem'
import { createRestClient } from '../../client/index.js'
import { inProject } from '../../devnet/launcher/binaries.js'
import { eventually } from '../support/eventually.js'
import { openRelay } from '../support/relay.js'
import { tempDir } from '../support/temp-dir.js'
import { SPOT_AND_PERP, startVenue, type TestVenue } from '../support/venue.js'
import { bidInNextAuction } from './stage/bidder.js'
import { openSeries } from './stage/series.js'
import { createTrader } from './stage/trader.js'

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
  '09-perp-position': {
    prints:
      /^the mark is 0\.00065 USDC, leverage at most 10\n.* is filled\nlong 100000 cNGN, worth 65 USDC, entered at 0\.0006499\nmaintenance margin surplus \S+ USDC\n.* is filled, and the position is closed\ncash \S+ USDC\n$/,
    // Quotes around a price below the mark meet what rests at it.
    given: async ({ devnet }) => {
      const subaccountId = devnet.accounts[2]?.perp_subaccount_id ?? ''
      const maker = createTrader(devnet, 2, undefined, { market: 'cNGN-PERP', subaccountId })
      await maker.place({ side: 'buy', amount: '100000', price: '0.0006497' })
      await maker.place({ side: 'sell', amount: '100000', price: '0.0006499' })
      return () => Promise.resolve()
    },
  },
  '10-margin-collateral': {
    prints:
      /^cNGN counts at 0\.8 of its index value\nposted 1000 cNGN, \d+ in all\nworth \S+ USD, as margin \S+ USD\n$/,
  },
  '13-order-controls': {
    prints:
      /^the post-only bid is active\na post-only offer below it is refused: post_only_would_cross\nsent again: post_only_would_cross\none that slides is active at \S+, not \S+\nan IOC order that meets nothing is cancelled: ioc_remainder\n$/,
  },
  '15-fills-and-balances': {
    prints:
      /^cNGN: .* available\nUSDC: .* available\npending as taker: .*\nsettled as taker: .* in 0x[0-9a-f]{64}\nthe fills moved \S+ USDC, and so says the chain\n$/,
    given: async ({ devnet }) => {
      const maker = createTrader(devnet, 1)
      const quote = await maker.place({ side: 'buy', amount: '20000', price: '0.0008' })
      return () => maker.cancel(quote)
    },
  },
  '14-cancel-all': {
    prints:
      /^a list: cancelled, cancelled\na dead-man switch: cancels in 1 market, unless it is renewed\nall: \d+ cancelled, 0 left\nafter the socket has closed: cancelled, cancel_on_disconnect\n$/,
  },
  '11-be-liquidated': {
    prints:
      /^long 270000 cNGN at 0\.00065\nliquidated at 0\.0006\d+, \d\.\d\d % away\nthe mark falls to 0\.0006: maintenance margin surplus -\S+ USDC\nthe venue's keeper has started the auction of 270000 cNGN\naccount \d+ has bought \S+ % of the account in 0x[0-9a-f]{64}\nleft: \S+ cNGN, maintenance margin surplus \S+ USDC\nin the list: bid, (auction_ended, )?auction_started\n$/,
    given: async ({ devnet }) => (await bidInNextAuction(devnet)).stop,
  },
  '16-market-data': {
    prints:
      /^levels: .*, .*\nticker: the mark is \S+, the index \S+\ncandles: \d+ closed minutes\nstatus: \w+, .*\n\d of the marks: .*\n\d of the rates: .* an hour\n$/,
  },
  '12-future-order': {
    prints:
      /^USDC-cNGN-\w+: the mark is \S+ cNGN, fills are between \S+ and \S+\n.* is active: 1000 USDC at \S+\nposition -?\S+ contracts\n\S+ USD above initial margin\n.* is cancelled\n$/,
    given: async (venue) => {
      await openSeries(venue, 2)
      const rest = createRestClient(venue.gatewayUrl)
      await eventually(
        async () => (await rest.markets()).some(({ future }) => future?.band_status === 'ok'),
        60_000,
      )
      // The index has left the mark behind, below the band.
      const prices = join(venue.dataDir, 'prices.json')
      writeFileSync(prices, JSON.stringify({ index: '0.0005' }))
      await eventually(async () => {
        const { mark_price, fill_band_low } = (await rest.markets())[0]?.future ?? {}
        return Number(mark_price) < Number(fill_band_low)
      }, 60_000)
      return () => rm(prices)
    },
  },
  '18-find-accounts': {
    prints: /^(account \d+ trades .*cNGN.*\n){2,}0 session keys, as of block \d+\n$/,
  },
  '17-move-quotes': {
    prints:
      /^placed 2 bids at once\nthe first asks for 7000 of 14000\nthe second is replaced, its successor is active\none by the socket is active\nall are cancelled\n$/,
  },
  '20-ccxt': {
    prints:
      /^markets: .*CNGN\/USDC:USDC.*\nthe best bid is 0\.0008 USDC for one cNGN\na limit order is open\nit is canceled\na market order sold 10000 cNGN at 0\.0008, fee 0\.02\n$/,
    given: async ({ devnet }) => {
      const maker = createTrader(devnet, 1)
      const quote = await maker.place({ side: 'buy', amount: '20000', price: '0.0008' })
      return () => maker.cancel(quote)
    },
  },
  '08-withdraw': { prints: /^5\.000000 USDC confirmed in 0x[0-9a-f]{64}\n$/ },
}

/** On a venue of their own, because those of the perpetual move its prices. */
describe('the examples', function () {
  let venue: TestVenue
  before(async () => {
    venue = await startVenue({ blockTime: 1, feeder: true, markets: SPOT_AND_PERP })
  })
  after(() => venue?.stop())

  it('are all run, here or in the tests of the history and the quoter', () => {
    const files = readdirSync(inProject('examples')).filter((name) => /^\d/.test(name))
    const elsewhere = ['05-history.ts', '19-quoter.ts']
    const here = Object.keys(examples).map((name) => `${name}.ts`)
    expect(files).to.have.members([...here, ...elsewhere])
  })

  // `./venue test` installs its packages, for Debian's own python3.
  it('place_order.py signs as the venue verifies', async () => {
    const file = inProject('examples/place_order.py')
    const child = spawn('/usr/bin/python3', [file, join(venue.dataDir, 'devnet.json')], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
    })
    const said = Promise.all([text(child.stdout), text(child.stderr)])
    await once(child, 'exit')
    const [printed, failed] = await said
    expect(failed).to.equal('')
    expect(printed).to.match(/^\d+ signing vectors agree\n.* is active\n.* is cancelled\n$/)
  })

  it('python/quoter.py keeps its quotes through a lost connection, and reconciles to the unit', async () => {
    const relay = await openRelay(Number(new URL(venue.gatewayUrl).port))
    const described = join(venue.dataDir, 'by-relay.json')
    const gateway_url = `http://127.0.0.1:${relay.port}`
    writeFileSync(described, JSON.stringify({ ...venue.devnet, gateway_url }))
    const file = inProject('examples/python/quoter.py')
    const child = spawn('/usr/bin/python3', [file, described], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
    })
    const said = { printed: '', failed: '' }
    child.stdout.on('data', (some: Buffer) => (said.printed += some.toString()))
    child.stderr.on('data', (some: Buffer) => (said.failed += some.toString()))
    const quoted = (connection: number) =>
      eventually(
        () =>
          said.failed !== '' || said.printed.includes(`10 quotes by connection ${connection}\n`),
      )
    const maker = createTrader(venue.devnet, 3)
    const taker = createTrader(venue.devnet, 1)
    const before = await maker.balances()
    await quoted(1)
    relay.cut()
    await taker.place({ side: 'sell', amount: '20000', price: '0.0006' })
    await taker.place({ side: 'buy', amount: '35000', price: '0.0007' })
    relay.heal()
    await quoted(2)
    const closed = once(child, 'close')
    child.kill('SIGINT')
    const ended = (await closed) as [number | null]
    await relay.close()
    expect([ended[0], said.failed]).to.deep.equal([0, ''])
    const after = await maker.balances()
    expect(after.cngnE18 - before.cngnE18).to.equal(-15_000n * 10n ** 18n)
    const usdc = formatUnits(after.usdcE18 - before.usdcE18, 18)
    expect(said.printed).to.match(/^\d+ signing vectors agree\n/)
    expect(said.printed.replace(/(\.\d*?)0+ USDC/, '$1 USDC')).to.match(
      new RegExp(`\\n\\d+ fills moved -15000(\\.0+)? cNGN, ${usdc} USDC; so says the chain\\n$`),
    )
  })

  it('import the modules of Python by the names that the packages of Debian give them', () => {
    const layout = tempDir()
    const stubs = {
      'Cryptodome/__init__.py': '',
      'Cryptodome/Hash/__init__.py': '',
      'Cryptodome/Hash/keccak.py': '',
      'ecdsa.py': 'SECP256k1 = SigningKey = util = None\n',
      'websockets.py': '',
    }
    for (const [name, source] of Object.entries(stubs)) {
      mkdirSync(dirname(join(layout.path, name)), { recursive: true })
      writeFileSync(join(layout.path, name), source)
    }
    const args = ['-S', inProject('examples/place_order.py'), '/nowhere']
    const env = { ...process.env, PYTHONPATH: layout.path, PYTHONDONTWRITEBYTECODE: '1' }
    const { error, stderr } = spawnSync('python3', args, { encoding: 'utf8', env })
    layout.remove()
    if (error !== undefined) return
    expect(stderr).to.equal('there is no /nowhere: run ./venue up, with the same DATA_DIR\n')
  })

  it('say in one line which packages of Python are missing, where there is a Python', () => {
    // Without the folder of installed packages.
    const args = ['-S', inProject('examples/place_order.py')]
    const { error, status, stderr } = spawnSync('python3', args, { encoding: 'utf8' })
    if (error !== undefined) return
    expect(status).to.equal(1)
    expect(stderr).to.match(/^No module named '\w+': apt-get install python3-\S+ .*\n$/)
  })

  it('say what is missing, and where they looked', () => {
    const example = inProject('dist/examples/01-place-order.js')
    const run = (...args: string[]) => {
      const env = { PATH: process.env.PATH, DATA_DIR: '/nowhere' }
      const { status, stderr, stdout } = spawnSync(process.execPath, [example, ...args], {
        env,
        encoding: 'utf8',
        timeout: 60_000,
      })
      return [status, stderr || stdout]
    }
    const missing = 'there is no /nowhere/devnet.json: run ./venue up, with the same DATA_DIR\n'
    expect(run()).to.deep.equal([1, missing])
    const dead = join(venue.dataDir, 'dead.json')
    writeFileSync(dead, JSON.stringify({ gateway_url: 'http://127.0.0.1:1' }))
    expect(run('--help')[0]).to.equal(0)
    expect(run('--help')[1]).to.match(/^usage: node \S*01-place-order\.js \[path of devnet\.json/)
    expect(run(dead)).to.deep.equal([1, 'no venue answers at http://127.0.0.1:1: run ./venue up\n'])
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
      const [code] = (await once(child, 'close')) as [number | null]
      await undo?.()
      expect([code, failed]).to.deep.equal([0, ''])
      expect(printed, printed).to.match(prints)
    })
  }
})
