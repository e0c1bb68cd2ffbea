import { generateIdentity, identityToRecipient } from 'age-encryption'
import { expect } from 'chai'
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { privateKeyToAddress } from 'viem/accounts'
import { createRestClient, type OrderRecord } from '../../client/index.js'
import type { Address, Hex } from '../../core/action.js'
import { dateCodeOf } from '../../core/contracts/future.js'
import { ANVIL_KEY } from '../support/anvil.js'
import { natsServerBinary } from '../support/config.js'
import { lower, testKey } from '../support/devnet-world.js'
import { eventually } from '../support/eventually.js'
import { readPage } from '../support/page-commands.js'
import { openContracts, type OwnedContracts } from './stage/contracts-owner.js'
import { PERP } from './stage/perp-trader.js'
import { placeVenue, type Ended, type PlacedVenue } from './stage/placed-venue.js'
import { createTrader, SPOT, type Trader } from './stage/trader.js'

const goLive = readPage('docs/GO-LIVE.md')
const contractsPage = readPage('docs/GO-LIVE-CONTRACTS.md')
const futures = readPage('docs/FUTURES.md')
const operating = readPage('docs/OPERATING.md')
const backup = readPage('docs/BACKUP.md')

const READY_WITHIN_MS = 90_000
/** The keys of the processes, by the names of their directories. */
const KEYS = {
  executor: testKey(1002),
  'deposit-submitter': testKey(1011),
  'withdrawal-submitter': testKey(1012),
  keeper: testKey(1013),
} as const
const addressOf = (process: keyof typeof KEYS): Address => lower(privateKeyToAddress(KEYS[process]))
/** Who gets the batch executor. */
const OWNER = lower(privateKeyToAddress(testKey(1014)))
/** Amount and price of a match that pays the sample's least notional. */
const TERMS: Readonly<Record<string, { readonly amount: string; readonly price: string }>> = {
  [SPOT]: { amount: '20000', price: '0.00065' },
  [PERP]: { amount: '20000', price: '0.00065' },
}
const SERIES_TERMS = { amount: '100', price: '1538' }

describe('a venue on contracts that no launcher has set up, by the pages alone', function () {
  let contracts: OwnedContracts
  let venue: PlacedVenue
  let deploymentFile: string
  let series: string

  before(async () => {
    contracts = await openContracts()
    venue = await placeVenue(contracts.rpcUrl)
    deploymentFile = join(venue.etc, 'deployment.json')
  })
  after(async () => {
    await venue?.remove()
    await contracts?.stop()
  })

  /** Lines of a page by a shell with the settings of the processes, taken as the page says. */
  const asOperator = (lines: string): Promise<Ended> =>
    venue.shell(`${venue.placed(backup.span('set -a; . /etc/venue/venue.env'))}\n${lines}`)
  async function works(lines: string): Promise<string> {
    const { code, stdout, output } = await asOperator(venue.placed(lines))
    expect(code, `${lines}\n${output}`).to.equal(0)
    return stdout
  }
  const untilReady = () =>
    eventually(async () => {
      const answer = await fetch(`${venue.gatewayUrl}/readyz`)
      expect(await answer.text()).to.include('ready')
      expect(answer.status).to.equal(200)
    }, READY_WITHIN_MS)
  const rest = () => createRestClient(venue.gatewayUrl)
  const termsOf = (market: string) => TERMS[market] ?? SERIES_TERMS
  function traderOf(name: number, market: string): Trader {
    const place = { ...contracts.place, gateway_url: venue.gatewayUrl }
    const account = place.accounts[name]
    const ids = [account?.spot_subaccount_id, account?.perp_subaccount_id]
    const subaccountId = (market === PERP ? ids[1] : ids[0]) ?? ''
    return createTrader(place, name, undefined, { market, subaccountId })
  }
  /** One match that the chain settles; resolves to the taker's order. */
  async function trade(market: string): Promise<OrderRecord> {
    const [maker, taker] = [traderOf(0, market), traderOf(1, market)]
    const { order_id: sold } = await maker.place({ side: 'sell', ...termsOf(market) })
    const { order_id: bought } = await taker.place({ side: 'buy', ...termsOf(market) })
    await maker.until(sold, 'filled')
    return taker.until(bought, 'filled')
  }
  const untilOpen = (names: readonly string[]) =>
    eventually(async () => {
      const open = (await rest().markets()).filter((each) => each.trading_status === 'open')
      expect(open.map(({ market }) => market)).to.include.members([...names])
    }, READY_WITHIN_MS)
  /** The lines of a check that are not well; the series of a calendar that the venue does not follow is not listed. */
  const unwell = (stdout: string) =>
    stdout
      .split('\n')
      .filter((line) => line !== '' && !/^(ok|not listed {2}USDC-cNGN-\w+:) /.test(line))
  const check = (marketsFile: string) => {
    const block = goLive.block('./venue check-deployment', {
      'https://node.example': contracts.rpcUrl,
      '=deployment.json': `=${deploymentFile}`,
      '=markets.json': `=${marketsFile}`,
      '--executor 0x…': `--executor ${addressOf('executor')}`,
      '--deposit-submitter 0x…': `--deposit-submitter ${addressOf('deposit-submitter')}`,
      '--withdrawal-submitter 0x…': `--withdrawal-submitter ${addressOf('withdrawal-submitter')}`,
    })
    return venue.shell(`${block.trimEnd()} --keeper ${addressOf('keeper')}`)
  }

  it('has a deployment file by the getters of the page, a batch executor by its command, and rights by its list', async () => {
    const keys = await contracts.readKeys()
    const { deployed_at_block: from, ...addresses } = keys
    expect(from).to.be.a('number')
    expect(contracts.at).to.include(addresses)
    writeFileSync(deploymentFile, JSON.stringify(keys))
    const deployer = join(venue.dir, 'deployer')
    writeFileSync(deployer, `${ANVIL_KEY}\n`, { mode: 0o600 })
    const block = contractsPage.block('./venue deploy batch-executor', {
      'https://node.example': contracts.rpcUrl,
      '=deployment.json': `=${deploymentFile}`,
      '--key-file deployer': `--key-file ${deployer}`,
      '--executor 0x…': `--executor ${addressOf('executor')}`,
      '--owner 0x…': `--owner ${OWNER}`,
    })
    const { code, stdout, output } = await venue.shell(block)
    expect(code, output).to.equal(0)
    const [, created] = /"batch_executor": "(0x[0-9a-f]{40})"/.exec(stdout) ?? []
    writeFileSync(deploymentFile, JSON.stringify({ ...keys, batch_executor: created }))
    // What the command prints last is the call of the owner of matching.
    await contracts.callMatching(stdout.trim().split('\n').at(-1) as Hex)
    for (const submitter of ['deposit-submitter', 'withdrawal-submitter'] as const)
      await contracts.allow(addressOf(submitter))
    await contracts.nameKeeper(addressOf('keeper'))
    for (const process of Object.keys(KEYS) as (keyof typeof KEYS)[])
      await contracts.fund(addressOf(process))
  })

  it('is what ./venue check-deployment finds complete', async () => {
    const { code, stdout, output } = await check(join(venue.data, 'markets.json'))
    expect(unwell(stdout), output).to.deep.equal([])
    expect(code).to.equal(0)
  })

  it('starts by the samples, the units and the commands of the machine, and is ready', async () => {
    for (const [process, key] of Object.entries(KEYS))
      writeFileSync(join(venue.etc, 'keys', process, 'key'), `${key}\n`, { mode: 0o600 })
    const { stdout: secret } = await venue.shell(goLive.span('openssl '))
    for (const process of ['executor', 'matchers'])
      writeFileSync(join(venue.etc, 'keys', process, 'secret'), secret, { mode: 0o600 })
    // What it does is shown by test/operating-samples.test.ts; here it would change the machine.
    const users = goLive.block('./venue bus-users', { 'systemd-tmpfiles --create': 'true' })
    const made = await venue.shell(venue.placed(users))
    expect(made.code, made.output).to.equal(0)
    venue.writeOwnSettings(made.stdout.trim().split('\n').at(-1) ?? '')
    const settings = join(venue.etc, 'venue.env')
    const named = readFileSync(settings, 'utf8').replace(
      'EXECUTOR_ADDRESS=',
      `EXECUTOR_ADDRESS=${addressOf('executor')}`,
    )
    writeFileSync(settings, named)
    venue.startBus()
    venue.startProcesses()
    await untilReady()
  })

  it('settles a match on spot and on the perpetual, and takes no cancel without a proof', async () => {
    await untilOpen([SPOT, PERP])
    await Promise.all([trade(SPOT), trade(PERP)])
    const maker = traderOf(0, SPOT)
    const another = await maker.place({ side: 'sell', ...termsOf(SPOT) })
    const refused = await maker.cancel(another).catch((error: unknown) => error)
    expect(refused).to.have.property('code', 'cancel_proof_required')
  })

  it('lists a series of futures as docs/FUTURES.md says, settles a match on it, and is complete with it', async () => {
    const expirySec = await contracts.openSeries()
    series = `USDC-cNGN-${dateCodeOf(BigInt(expirySec))}`
    const calendar = new Date(expirySec * 1_000).toISOString().replace(':00.000Z', 'Z')
    const file = join(venue.dir, 'next.json')
    const [row = '', add = ''] = futures
      .block('./venue market row', { 'next.json': file })
      .split('\n')
    await works(`export FUTURES_CALENDAR=${calendar}\n${row}`)
    expect(await works(add)).to.include(`${series}: enabled`)
    await untilOpen([SPOT, PERP, series])
    await trade(series)

    const all = join(venue.dir, 'all.json')
    const rows = [join(venue.data, 'markets.json'), file].flatMap(
      (each) => JSON.parse(readFileSync(each, 'utf8')) as object[],
    )
    writeFileSync(all, JSON.stringify(rows))
    const { code, stdout, output } = await check(all)
    expect(unwell(stdout), output).to.deep.equal([])
    expect(stdout).to.include(`${series}: a match passes in a simulation`)
    expect(code).to.equal(0)
  })

  it('lets the operator look, pause, audit and reload the bus, as docs/GO-LIVE.md says', async () => {
    const reload = goLive.span('nats-server --signal reload', {
      'nats-server --signal reload': `'${natsServerBinary()}' --signal reload=${venue.busPid()}`,
    })
    await works(reload)
    await eventually(async () =>
      expect(await works(goLive.span('./venue status'))).to.match(/: well\n/),
    )
    for (const [change, says] of [
      ['pause', 'paused'],
      ['resume', 'open'],
    ] as const)
      expect(await works(`./venue market ${change} ${SPOT}`)).to.include(says)
    await eventually(() => works(goLive.span('./venue audit')))
    const least = await works(goLive.span('./venue market list'))
    for (const market of [SPOT, PERP])
      expect(least).to.match(new RegExp(`^${market}: .*min_notional=5`, 'm'))
  })

  it('is changed by the commands of docs/OPERATING.md', async () => {
    const rows = join(venue.dir, 'next.json')
    const block = operating.block('./venue market history', { 'rows.json': rows })
    const output = await works(`set -e\n${block}`)
    expect(output).to.include('taker_fee_bps')
    const found = await trade(SPOT)
    const shown = await works(operating.span('./venue inspect', { '<id>': found.order_id }))
    expect(shown).to.include('filled')
  })

  it('is backed up, and restored without keys, by the commands of docs/BACKUP.md', async () => {
    const identity = await generateIdentity()
    const identityFile = join(venue.dir, 'backup-key.txt')
    writeFileSync(identityFile, `${identity}\n`, { mode: 0o600 })
    const recipient = await identityToRecipient(identity)
    const [, make = ''] = backup
      .block('./venue backup', { 'age1…': recipient, '/backup/': `${venue.dir}/backup/` })
      .split(/^(?=DATA_DIR)/m)
    await works(make)
    const [taken = ''] = readdirSync(join(venue.dir, 'backup'))
    const taking = join(venue.dir, 'backup', taken)

    await venue.stop()
    await restoreRegister(taking, identityFile)

    // Nothing is left of the venue but its backup and what the operator has written; the keys are elsewhere.
    await venue.stop()
    emptyVenue()
    const keys = join(venue.etc, 'keys')
    renameSync(keys, `${keys}-elsewhere`)
    venue.startBus()
    const restore = backup.block('./venue restore', {
      '/backup/2026-03-01T1200': taking,
      'backup-key.txt': identityFile,
    })
    let said = ''
    await eventually(async () => (said = await works(restore)))
    expect(said).to.include('restored with a gap')

    renameSync(`${keys}-elsewhere`, keys)
    venue.startProcesses()
    await eventually(async () =>
      expect((await rest().markets()).map(({ market }) => market)).to.include(series),
    )
    await eventually(() => works(backup.span('./venue audit')))
    for (const market of [SPOT, PERP, series])
      await works(backup.span('./venue market accept-gap', { '<market>': market }))
    await untilReady()
    await untilOpen([SPOT, PERP, series])
    for (const market of [SPOT, PERP, series]) await trade(market)
  })

  /** The register's stream is gone, and comes back from a backup by the script of the page. */
  async function restoreRegister(taken: string, identityFile: string): Promise<void> {
    rmSync(join(venue.data, 'nats/jetstream/$G/streams/MARKETS'), { recursive: true })
    venue.startBus()
    const script = backup.block('docs/operating/restore-register.sh', {
      '/backup/2026-03-01T1200': taken,
      'backup-key.txt': identityFile,
    })
    await eventually(async () => expect(await works(script)).to.match(/last_seq: [1-9]/))
  }

  /** As step 1 of a restore says. */
  function emptyVenue(): void {
    for (const each of readdirSync(venue.data, { recursive: true, withFileTypes: true }))
      if (/\.db(-wal|-shm)?$/.test(each.name)) rmSync(join(each.parentPath, each.name))
    for (const place of ['nats', 'feed-archive'])
      for (const name of readdirSync(join(venue.data, place)))
        rmSync(join(venue.data, place, name), { recursive: true })
  }
})
