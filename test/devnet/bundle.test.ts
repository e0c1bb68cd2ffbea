import { expect } from 'chai'
import { existsSync, readFileSync } from 'node:fs'
import { PROGRAMS, provideBundles } from '../../devnet/bundle.js'
import { inProject } from '../../devnet/launcher/binaries.js'
import { DEMO_MAKER, FEEDER } from '../../devnet/launcher/workers.js'

interface SourceMap {
  readonly sources: readonly string[]
}

/** The files of which a bundle is made, by their paths from the root or from node_modules. */
function filesOf(program: string): string[] {
  const { sources } = JSON.parse(
    readFileSync(inProject(`bundle/${program}.map`), 'utf8'),
  ) as SourceMap
  return sources.map((source) => source.replace(/^(\.\.\/)+(node_modules\/)?/, ''))
}

/** What each program must not load: it costs every start of it time and memory. */
const KEPT_OUT: Readonly<Record<string, RegExp>> = {
  'actors/matcher/main.js': /^(viem|ox|koa|ws|better-sqlite3|chain|api-gateway|client)\//,
  'actors/projector/main.js': /^(viem|ox|koa|ws|chain|api-gateway|client)\//,
  'actors/chain-reader/main.js': /^(koa|ws|api-gateway|client|devnet)\//,
  'actors/ws-fanout/main.js': /^(koa|raw-body|accepts|mime-db|api-gateway|client)\//,
  'devnet/up.js': /^(koa|ws|api-gateway|executor|solc)\//,
}

describe('bundles', function () {
  before(provideBundles)

  it('are made of all that the Procfile and the launcher start', () => {
    const commands = [
      readFileSync(inProject('Procfile'), 'utf8'),
      DEMO_MAKER.command,
      FEEDER.command,
    ]
    const started = [...commands.join('\n').matchAll(/ bundle\/(\S+)/g)].map(([, it = '']) => it)
    expect(started).to.have.length.above(9)
    expect(PROGRAMS).to.include.members(started)
    expect(PROGRAMS.filter((program) => !existsSync(inProject(`bundle/${program}`)))).to.deep.equal(
      [],
    )
  })

  for (const program of PROGRAMS)
    it(`${program} has no text of another language than English, and ASCII alone`, () => {
      const text = readFileSync(inProject(`bundle/${program}`), 'latin1')
      expect(/[^\x00-\x7f]/.exec(text)?.index).to.equal(undefined)
      const texts = filesOf(program).filter((file) => /\/locales\/(?!en\.)/.test(file))
      expect(texts).to.deep.equal([])
    })

  for (const [program, unwanted] of Object.entries(KEPT_OUT))
    it(`${program} has nothing of ${unwanted.source}`, () => {
      const files = filesOf(program)
      expect(files.filter((file) => file.endsWith('.ts'))).to.have.length.above(10)
      expect(files.filter((file) => unwanted.test(file))).to.deep.equal([])
    })
})
