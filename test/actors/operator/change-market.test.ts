import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkOperator } from '../../../actors/matcher/check-operator.js'
import {
  carryOut,
  OrderRefused,
  type OperatorDeps,
} from '../../../actors/operator/change-market.js'
import { commandMessages } from '../../../bus-schemas/commands.js'
import { commandsStream } from '../../../bus-schemas/subjects.js'
import type { FuturesCalendar } from '../../../core/contracts/future-calendar.js'
import { defaultMarketFile } from '../../../data/markets.js'
import { rowOfNextSeries } from '../../../data/series-row.js'
import { inProject } from '../../../devnet/launcher/binaries.js'
import { newSeed } from '../../../runtime/bus/nkeys.js'
import { operatorKeyOf, type OperatorKey } from '../../../runtime/bus/operator-key.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { futureAddresses, testAddresses } from '../../support/builders.js'
import { marketOrderIn } from '../../support/market-order.js'
import { tempDir } from '../../support/temp-dir.js'
import { stageMarket, startOn, type StartedMatcher } from '../matcher/stage.js'

type Row = Readonly<Record<string, unknown>>

const NAME = stageMarket.market
const [spot = {}] = JSON.parse(readFileSync(defaultMarketFile, 'utf8')) as Row[]
const other: Row = { ...spot, market: 'B', ordinal: 9, aliases: [], sub_id: '9' }

describe('./venue market', () => {
  let dir: ReturnType<typeof tempDir>
  let file: string
  let bus: MemoryBus
  let key: OperatorKey
  const start = () =>
    startOn(bus, {
      operators: checkOperator({ keys: new Map([[key.publicKey, 'ada']]), nowMs: Date.now }),
    })
  let started: StartedMatcher | undefined
  beforeEach(() => {
    dir = tempDir()
    file = join(dir.path, 'markets.json')
    writeFileSync(file, JSON.stringify([spot]))
    writeFileSync(join(dir.path, 'devnet.json'), JSON.stringify(testAddresses))
    bus = createMemoryBus()
    key = operatorKeyOf(new TextEncoder().encode(newSeed()))
    started = undefined
  })
  afterEach(async () => {
    await started?.matcher.stop()
    dir.remove()
  })

  const run = (
    line: string,
    operatorKey: OperatorKey | undefined = key,
    when: Partial<Pick<OperatorDeps, 'calendar' | 'nowMs'>> = {},
  ) =>
    carryOut(
      {
        ...{ bus, marketsFile: file, deploymentFile: join(dir.path, 'devnet.json'), user: 'ada' },
        ...{ openWithinMs: 0, operatorKey, calendar: 'none', nowMs: Date.now, ...when },
      },
      marketOrderIn(line),
    )
  const rows = () => JSON.parse(readFileSync(file, 'utf8')) as Row[]
  /** The one line of a refusal. */
  const refusalOf = async (line: string): Promise<string> => {
    const error = await run(line).catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(OrderRefused)
    return (error as Error).message
  }
  const commands = async () => {
    const messages = await bus.read(commandsStream(NAME), 1, 1_000)
    const { decode } = commandMessages(stageMarket)
    return messages.flatMap(({ data }) => decode(data).map(({ command }) => command))
  }

  it('puts a change into the log with who and why, then into the file, and prints the terms', async () => {
    started = await start()
    const [line] = await run(`set ${NAME} taker_fee_bps=30 --reason tariff`)
    expect(line).to.match(new RegExp(`^${NAME}: enabled, open, taker_fee_bps=30 `))
    expect(await commands()).to.deep.include({
      ...{ kind: 'MarketRulesSet', rules: { takerFeeBps: 30 } },
      ...{ by: 'ada', reason: 'tariff' },
    })
    expect(rows()).to.deep.equal([{ ...spot, taker_fee_bps: 30 }])
    expect((await run(`disable ${NAME}`))[0]).to.match(/: disabled, taker_fee_bps=/)
    expect(rows()[0]).to.include({ enabled: false })
    expect((await run('list'))[0]).to.match(/: disabled, taker_fee_bps=/)
  })

  it('refuses a change that no key of the market signed, and tells a question', async () => {
    started = await start()
    const foreign = operatorKeyOf(new TextEncoder().encode(newSeed()))
    const refused = await run(`pause ${NAME}`, foreign).catch((error: unknown) => error)
    expect(refused).to.be.instanceOf(OrderRefused)
    expect((refused as Error).message).to.equal(`${foreign.publicKey} is not one of OPERATOR_KEYS`)
    expect((await run('list', foreign))[0]).to.match(/: enabled, open/)
    expect((await commands()).map(({ kind }) => kind)).not.to.include('MarketPaused')
  })

  it('refuses in one line, and changes neither log nor file', async () => {
    started = await start()
    for (const [line, message] of [
      ['pause NOPE', `no such market: NOPE; there are ${NAME}`],
      [`set ${NAME} ordinal=3`, 'ordinal cannot be set; only taker_fee_bps, tick_size, '],
      [`set ${NAME} taker_fee_bps=x`, 'taker_fee_bps must be a whole number from 0 to 10000'],
      [`set ${NAME} tick_size=0`, 'tick_size must be a decimal greater than 0'],
      [`resume ${NAME}`, `${NAME} is not paused`],
      [`enable ${NAME}`, `${NAME} is enabled already`],
    ] as const) {
      const refused = await refusalOf(line)
      expect(refused.split('\n'), line).to.have.length(1)
      expect(refused, line).to.include(message)
    }
    const changed = (await commands())
      .map(({ kind }) => kind)
      .filter((kind) => kind.startsWith('Market'))
    expect(changed).to.deep.equal(['MarketOpened'])
    expect(rows()).to.deep.equal([spot])
  })

  it('refuses to add a market that the deployment lacks, and lists none that is absent', async () => {
    const [, perp] = JSON.parse(readFileSync(defaultMarketFile, 'utf8')) as Row[]
    const added = join(dir.path, 'perp.json')
    writeFileSync(added, JSON.stringify([perp]))
    expect(await refusalOf(`add ${added}`)).to.equal(
      'cNGN-PERP is not listed: the deployment has no perp_asset and no perp_trade_module',
    )
    expect(rows()).to.deep.equal([spot])
    writeFileSync(file, JSON.stringify([spot, perp]))
    expect(await run('list')).to.have.length(1)
    expect(await refusalOf('pause cNGN-PERP')).to.equal(
      `no such market: cNGN-PERP; there are ${NAME}`,
    )
  })

  it('says that no matcher answers, and leaves the file as it is', async () => {
    expect(await refusalOf(`pause ${NAME}`)).to.equal(
      `the matcher of ${NAME} does not answer: look at ./venue market list, then try again`,
    )
    expect(await run('list')).to.deep.equal([`${NAME}: its matcher does not answer`])
    expect(rows()).to.deep.equal([spot])
  })

  it('says what to do when the log is changed and the file cannot be written', async () => {
    started = await start()
    mkdirSync(`${file}.new`)
    expect(await refusalOf(`set ${NAME} taker_fee_bps=30`)).to.equal(
      `${NAME} is changed, but ${file} cannot be written: write it there as well`,
    )
  })

  it('writes the file as the log is when a command is repeated that could not write it', async () => {
    started = await start()
    mkdirSync(`${file}.new`)
    expect(await refusalOf(`disable ${NAME}`)).to.include('cannot be written')
    rmSync(`${file}.new`, { recursive: true })
    expect(rows()[0]).to.include({ enabled: true })
    expect(await refusalOf(`disable ${NAME}`)).to.equal(`${NAME} is disabled already`)
    expect(rows()[0]).to.include({ enabled: false })
  })

  it('adds rows, and refuses a bad one before anything is written', async () => {
    const added = join(dir.path, 'added.json')
    for (const [row, problem] of [
      [{ ...other, ordinal: spot.ordinal }, `B: ordinal ${String(spot.ordinal)} is listed twice`],
      [{ ...other, tick_size: '0' }, 'B: tick_size must be positive decimal text'],
      [{ ...other, asset: 'nowhere' }, 'needs the address nowhere'],
    ] as const) {
      writeFileSync(added, JSON.stringify([row]))
      const refused = await refusalOf(`add ${added}`)
      expect(refused).to.include(problem)
      expect(refused.split('\n')).to.have.length(1)
      expect(rows()).to.deep.equal([spot])
    }
    writeFileSync(added, JSON.stringify([other]))
    expect(await run(`add ${added}`)).to.deep.equal(['B: added; its matcher does not answer yet'])
    expect(rows()).to.deep.equal([spot, other])
  })

  it('lists which series comes next, while it is not listed, and that none does', async () => {
    const endSec = Date.parse('2028-02-29T14:00:00Z') / 1_000
    writeFileSync(file, JSON.stringify([spot, rowOfNextSeries([spot], endSec)]))
    const addresses = { ...testAddresses, ...futureAddresses }
    writeFileSync(join(dir.path, 'devnet.json'), JSON.stringify(addresses))
    const next = (calendar: FuturesCalendar, time: string) =>
      run('list', key, { calendar, nowMs: () => Date.parse(time) })
    expect((await next('month-end', '2028-02-20T13:00:00Z')).at(-1)).to.equal(
      'next series: USDC-cNGN-31MAR28, not listed yet; due since 2028-01-31T13:00Z',
    )
    for (const [time, when] of [
      ['2028-02-20T13:00:00Z', 'stops trading in 9 days, at 2028-02-29T13:00Z'],
      ['2028-03-20T13:00:00Z', 'stopped trading at 2028-02-29T13:00Z'],
    ] as const)
      expect((await next([endSec], time)).at(-1)).to.equal(
        `next series: FUTURES_CALENDAR names none; the last one ${when}`,
      )
    expect(await next('none', '2028-02-20T13:00:00Z')).to.have.length(2)
  })

  it('prints the row of a series for add, by default of the next one', async () => {
    const nowMs = () => Date.parse('2028-01-31T12:00:00Z')
    const row = async (calendar: FuturesCalendar, words = '') => {
      const [text = ''] = await run(`row ${words}`.trim(), key, { calendar, nowMs })
      return (JSON.parse(text) as Row[])[0]
    }
    const addresses = { ...testAddresses, ...futureAddresses }
    writeFileSync(join(dir.path, 'devnet.json'), JSON.stringify(addresses))
    const first = await row('month-end')
    expect(first).to.include({ market: 'USDC-cNGN-31JAN28', ordinal: 1, enabled: true })
    writeFileSync(file, JSON.stringify([spot, { ...first, taker_fee_bps: 10, ordinal: 4 }]))
    expect(await row('month-end')).to.include({
      ...{ market: 'USDC-cNGN-29FEB28', ordinal: 5, taker_fee_bps: 10 },
    })
    expect(await row('none', '2028-06-30T14:00Z')).to.include({ market: 'USDC-cNGN-30JUN28' })
    const refused = await row([nowMs() / 1_000 - 9]).catch((error: unknown) => error)
    expect(refused).to.be.instanceOf(OrderRefused)
  })

  it('says in one line that no venue runs', () => {
    const started = (env: NodeJS.ProcessEnv) =>
      spawnSync('./venue', ['market', 'list'], {
        ...{ cwd: inProject('.'), encoding: 'utf8' as const },
        env: { PATH: process.env.PATH, ...env },
      })
    const none = started({ DATA_DIR: join(dir.path, 'none') })
    expect([none.status, none.stdout]).to.deep.equal([1, ''])
    expect(none.stderr).to.match(/^venue: there is no market file [^\n]+\n$/)
    const stopped = started({ DATA_DIR: dir.path })
    expect([stopped.status, stopped.stdout]).to.deep.equal([1, ''])
    expect(stopped.stderr).to.match(/^venue: NATS_URL is not set[^\n]+is the venue running\?\n$/)
  })
})
