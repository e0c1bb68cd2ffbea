import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkOperator } from '../../../runtime/bus/check-operator.js'
import { carryOut, type OperatorDeps } from '../../../actors/operator/change-market.js'
import { OperatorOrderRefused } from '../../../actors/market-orders/order-refused.js'
import { commandMessages } from '../../../bus-schemas/commands.js'
import { encodeRegistration } from '../../../bus-schemas/register.js'
import { encodeMarketAnswer } from '../../../bus-schemas/markets.js'
import { askMarket, commandsStream, registerSubject } from '../../../bus-schemas/subjects.js'
import type { FuturesCalendar } from '../../../core/contracts/future-calendar.js'
import { openingOf } from '../../../core/model/market-terms.js'
import { OPEN } from '../../../core/model/market.js'
import { defaultMarketFile } from '../../../data/markets.js'
import { rowOfNextSeries } from '../../../data/series-row.js'
import { inProject } from '../../../devnet/launcher/binaries.js'
import { newSeed } from '../../../runtime/bus/nkeys.js'
import { operatorKeyOf, type OperatorKey } from '../../../runtime/bus/operator-key.js'
import { marketsIn, readRegister } from '../../../runtime/bus/market-register.js'
import type { RunningProcess } from '../../../runtime/process/process.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { futureAddresses, testAddresses } from '../../support/builders.js'
import { marketOrderIn } from '../../support/market-order.js'
import { eventually } from '../../support/eventually.js'
import { registerMarkets, startRegister } from '../../support/registered.js'
import { tempDir } from '../../support/temp-dir.js'
import { stageMarket, startOn, type StartedMatcher } from '../matcher/stage.js'

type Row = Readonly<Record<string, unknown>>

const NAME = stageMarket.market
const [spot = {}] = JSON.parse(readFileSync(defaultMarketFile, 'utf8')) as Row[]
const other: Row = { ...spot, market: 'B', ordinal: 9, aliases: [], sub_id: '9' }
const unnumbered: Row = { ...other, ordinal: undefined }

describe('./venue market', () => {
  let dir: ReturnType<typeof tempDir>
  let bus: MemoryBus
  let key: OperatorKey
  const start = () =>
    startOn(bus, {
      operators: checkOperator({ keys: new Map([[key.publicKey, 'ada']]), nowMs: Date.now }),
    })
  let started: StartedMatcher | undefined
  let register: RunningProcess
  beforeEach(async () => {
    dir = tempDir()
    writeFileSync(join(dir.path, 'devnet.json'), JSON.stringify(testAddresses))
    bus = createMemoryBus()
    key = operatorKeyOf(new TextEncoder().encode(newSeed()))
    started = undefined
    await registerMarkets(bus, [stageMarket])
    const keys = new Map([[key.publicKey, 'ada']])
    register = await startRegister(bus, checkOperator({ keys, nowMs: Date.now }))
  })
  afterEach(async () => {
    await started?.matcher.stop()
    await register.stop()
    dir.remove()
  })

  const run = (
    line: string,
    operatorKey: OperatorKey | undefined = key,
    when: Partial<Pick<OperatorDeps, 'calendar' | 'nowMs' | 'openWithinMs'>> = {},
  ) =>
    carryOut(
      {
        bus,
        deploymentFile: join(dir.path, 'devnet.json'),
        user: 'ada',
        openWithinMs: 0,
        operatorKey,
        calendar: 'none',
        nowMs: Date.now,
        ...when,
      },
      marketOrderIn(line),
    )
  const registered = async () => marketsIn(await readRegister(bus))
  const write = (rows: readonly unknown[]) => {
    const file = join(dir.path, 'rows.json')
    writeFileSync(file, JSON.stringify(rows))
    return file
  }
  /** The one line of a refusal. */
  const refusalOf = async (line: string): Promise<string> => {
    const error = await run(line).catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(OperatorOrderRefused)
    return (error as Error).message
  }
  const commands = async () => {
    const messages = await bus.read(commandsStream(NAME), 1, 1_000)
    const { decode } = commandMessages(stageMarket)
    return messages.flatMap(({ data }) => decode(data).map(({ command }) => command))
  }

  it('puts a change into the log with who and why, and prints the terms', async () => {
    started = await start()
    const [line] = await run(`set ${NAME} taker_fee_bps=30 --reason tariff`)
    expect(line).to.match(new RegExp(`^${NAME}: enabled, open, taker_fee_bps=30 `))
    expect(await commands()).to.deep.include({
      kind: 'MarketRulesSet',
      rules: { takerFeeBps: 30 },
      by: 'ada',
      reason: 'tariff',
    })
    expect((await run(`disable ${NAME}`))[0]).to.match(/: disabled, taker_fee_bps=/)
    expect((await run('list'))[0]).to.match(/: disabled, taker_fee_bps=/)
    expect(await registered()).to.deep.equal([stageMarket])
  })

  it('refuses a change that no key of the market signed, and tells a question', async () => {
    started = await start()
    const foreign = operatorKeyOf(new TextEncoder().encode(newSeed()))
    const refused = await run(`pause ${NAME}`, foreign).catch((error: unknown) => error)
    expect(refused).to.be.instanceOf(OperatorOrderRefused)
    expect((refused as Error).message).to.equal(`${foreign.publicKey} is not one of OPERATOR_KEYS`)
    expect((await run('list', foreign))[0]).to.match(/: enabled, open/)
    expect((await commands()).map(({ kind }) => kind)).not.to.include('MarketPaused')
  })

  it('refuses in one line, and changes nothing', async () => {
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
  })

  it('says that no matcher answers', async () => {
    expect(await refusalOf(`pause ${NAME}`)).to.equal(
      `the matcher of ${NAME} does not answer: look at ./venue market list, then try again`,
    )
    expect(await run('list')).to.deep.equal([`${NAME}: its matcher does not answer`])
  })

  it('has rows registered, and refuses a bad one before anything is', async () => {
    const [, perp = {}] = JSON.parse(readFileSync(defaultMarketFile, 'utf8')) as Row[]
    for (const [row, problem] of [
      [{ ...other, ordinal: spot.ordinal }, `B: the ordinal ${String(spot.ordinal)} is of ${NAME}`],
      [{ ...other, tick_size: '0' }, 'B: tick_size must be positive decimal text'],
      [{ ...other, asset: 'nowhere' }, 'needs the address nowhere'],
      [
        { ...spot, maker_fee_bps: 1 },
        `${NAME} is registered, and its maker_fee_bps never changes: it is 0`,
      ],
      [perp, 'cNGN-PERP is not listed: the deployment has no perp_asset and no perp_trade_module'],
    ] as const) {
      const refused = await refusalOf(`add ${write([row])}`)
      expect(refused).to.include(problem)
      expect(refused.split('\n')).to.have.length(1)
      expect(await registered()).to.have.length(1)
    }
    expect(await refusalOf(`add ${write([])}`)).to.equal('there is no row of a market')
    expect(await run(`add ${write([other])} --reason more`)).to.deep.equal([
      'B: registered; its matcher does not answer yet',
    ])
    await run(`add ${write([{ ...unnumbered, market: 'C', sub_id: '10' }])}`)
    expect((await registered()).map(({ market, ordinal }) => [market, ordinal])).to.deep.equal([
      [NAME, 0],
      ['B', 9],
      ['C', 10],
    ])
  })

  it('replaces the texts of a registered market, and nothing else of it', async () => {
    started = await start()
    const file = write([{ ...spot, aliases: ['NEW'], taker_fee_bps: 1 }])
    const lines = await run(`add ${file}`, key, { openWithinMs: 10_000 })
    expect(lines[0]).to.match(/: enabled, open, taker_fee_bps=25 /)
    expect(await registered()).to.deep.equal([{ ...stageMarket, aliases: ['NEW'] }])
  })

  it('prints who registered what, when and why, of every release', async () => {
    const older = {
      by: 'bob',
      reason: 'of "0.3.0"',
      entries: [...(await readRegister(bus)).entries.values()],
    }
    const [, form] = JSON.parse(Buffer.from(encodeRegistration(older)).toString('utf8')) as [
      number,
      unknown[],
    ]
    await bus.append(registerSubject, Buffer.from(JSON.stringify([10, form.slice(0, 3)])))
    await eventually(async () => (await run('list')).length === 1)
    const startedMs = Date.now()
    await run(`add ${write([other])} --reason more`)
    const [first, second, third = '', ...more] = await run('history')
    expect([first, second, more.length]).to.deep.equal([
      `at an unknown time by test, "test": ${NAME}`,
      `at an unknown time by bob, "of \\"0.3.0\\"": ${NAME}`,
      0,
    ])
    const [at = '', ...words] = third.split(' ')
    expect(words.join(' ')).to.equal('by ada, "more": B')
    expect(Date.parse(at)).to.be.within(startedMs, Date.now())
  })

  it('registers for two operators at once, each with ordinals of its own (OPE-039)', async () => {
    const [b, c] = ['B', 'C'].map((market, at) => {
      const file = join(dir.path, `${market}.json`)
      writeFileSync(file, JSON.stringify([{ ...unnumbered, market, sub_id: `${at + 20}` }]))
      return file
    })
    await Promise.all([run(`add ${b}`), run(`add ${c}`)])
    const [, ...added] = await registered()
    expect(added.map(({ market }) => market)).to.have.members(['B', 'C'])
    expect(added.map(({ ordinal }) => ordinal)).to.deep.equal([1, 2])
  })

  const addSeries = async (row: object) => {
    const addresses = { ...testAddresses, ...futureAddresses }
    writeFileSync(join(dir.path, 'devnet.json'), JSON.stringify(addresses))
    await run(`add ${write([row])}`)
  }

  it('lists which series comes next, while it is not listed, and that none does', async () => {
    const endSec = Date.parse('2028-02-29T14:00:00Z') / 1_000
    await addSeries(rowOfNextSeries([spot], endSec))
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
    const first = await row('month-end')
    expect(first).to.include({ market: 'USDC-cNGN-31JAN28', enabled: true })
    expect(first).not.to.have.property('ordinal')
    await addSeries({ ...first, taker_fee_bps: 10 })
    const silent = await row('month-end').catch((error: unknown) => error)
    expect(silent).to.be.instanceOf(OperatorOrderRefused)
    expect(String(silent)).to.include('the matcher of USDC-cNGN-31JAN28 does not answer')
    const series = (await registered()).at(-1)
    if (series === undefined) throw new Error('the series is not registered')
    const terms = { ...openingOf(series), standing: OPEN }
    const ruled = { ...terms, rules: { ...terms.rules, takerFeeBps: 12 } }
    await bus.answer(askMarket(series.market), 'matcher', (_, replyTo) => {
      bus.reply(replyTo, encodeMarketAnswer({ kind: 'terms', feed_seq: 1, terms: ruled }))
    })
    expect(await row('month-end')).to.include({
      market: 'USDC-cNGN-29FEB28',
      taker_fee_bps: 12,
      asset: futureAddresses.future_asset,
    })
    expect(await row('none', '2028-06-30T14:00Z')).to.include({ market: 'USDC-cNGN-30JUN28' })
    const refused = await row([nowMs() / 1_000 - 9]).catch((error: unknown) => error)
    expect(refused).to.be.instanceOf(OperatorOrderRefused)
  })

  it('says in one line that no venue runs', () => {
    const started = (env: NodeJS.ProcessEnv) =>
      spawnSync('./venue', ['market', 'list'], {
        cwd: inProject('.'),
        encoding: 'utf8' as const,
        env: { PATH: process.env.PATH, ...env },
      })
    const none = started({ DATA_DIR: join(dir.path, 'none') })
    expect([none.status, none.stdout]).to.deep.equal([1, ''])
    expect(none.stderr).to.match(/^venue: NATS_URL is not set[^\n]+is the venue running\?\n$/)
    const stopped = started({ DATA_DIR: dir.path })
    expect([stopped.status, stopped.stdout]).to.deep.equal([1, ''])
    expect(stopped.stderr).to.match(/^venue: NATS_URL is not set[^\n]+is the venue running\?\n$/)
  })
})
