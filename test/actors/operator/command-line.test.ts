import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { CommandLineEnded, readTask } from '../../../actors/operator/command-line.js'
import { valuesIn } from '../../../actors/operator/read-metrics.js'
import { inProject } from '../../../devnet/launcher/binaries.js'

describe('the command line of an operator', () => {
  const taskOf = (line: string) => readTask(line.split(' '))

  it('is read into one task', () => {
    expect(taskOf('status')).to.deep.equal({ kind: 'status', json: false })
    expect(taskOf('status --json')).to.deep.equal({ kind: 'status', json: true })
    expect(taskOf('inspect 0xab --json')).to.deep.equal({
      kind: 'inspect',
      subject: '0xab',
      json: true,
    })
    expect(taskOf('market set A taker_fee_bps=30 tick_size=0.1 --reason tariff')).to.deep.equal({
      kind: 'market',
      order: {
        kind: 'change',
        market: 'A',
        reason: 'tariff',
        change: { kind: 'set', fields: { taker_fee_bps: '30', tick_size: '0.1' } },
      },
    })
    expect(taskOf('export 2026-11-21 /srv/history')).to.deep.equal({
      kind: 'export',
      date: '2026-11-21',
      dir: '/srv/history',
    })
    expect(taskOf('market pause A')).to.deep.equal({
      kind: 'market',
      order: { kind: 'change', market: 'A', change: { kind: 'pause' }, reason: 'unspecified' },
    })
  })

  const run = (...words: readonly string[]) =>
    spawnSync(process.execPath, [inProject('dist/actors/operator/main.js'), ...words], {
      encoding: 'utf8',
    })

  it('shows help with examples and ends with 0; bad usage names the mistake and ends with 2', () => {
    const help = run('inspect', '--help')
    expect([help.status, help.stderr]).to.deep.equal([0, ''])
    expect(help.stdout)
      .to.match(/^usage: \.\/venue inspect /)
      .and.to.include('Examples:')
    const bad = run('market', 'set', 'A', 'taker_fee_bps')
    expect([bad.status, bad.stdout]).to.deep.equal([2, ''])
    expect(bad.stderr).to.include('taker_fee_bps is not <rule>=<value>')
  })

  it('refuses what it cannot read, in words', () => {
    const texts: string[] = []
    const write = process.stderr.write.bind(process.stderr)
    process.stderr.write = (text: string | Uint8Array) => texts.push(String(text)) > 0
    try {
      for (const line of [
        'market',
        'market list all',
        'market set A',
        'market set A x=1 x=2',
        'inspect',
        'stats',
      ])
        expect(() => taskOf(line), line)
          .to.throw(CommandLineEnded)
          .with.property('exitCode', 2)
    } finally {
      process.stderr.write = write
    }
    expect(texts.join('')).to.include('x is given twice')
  })
})

describe('valuesIn', () => {
  it('reads samples with their labels, and no comments', () => {
    const text = [
      '# HELP venue_market_seq x',
      'venue_market_seq{market="A",note="say \\"hi\\", b"} 7',
      'venue_sockets 2e+3',
      '',
    ].join('\n')
    expect(valuesIn(text)).to.deep.equal([
      { name: 'venue_market_seq', labels: { market: 'A', note: 'say \\"hi\\", b' }, value: 7 },
      { name: 'venue_sockets', labels: {}, value: 2000 },
    ])
  })
})
