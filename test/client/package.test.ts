import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import ts from 'typescript'
import { buildClient } from '../../devnet/build-client.js'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../../', import.meta.url))
const modules = dirname(dirname(fileURLToPath(import.meta.resolve('chai'))))

interface Manifest {
  readonly name: string
  readonly version: string
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
}
const manifestAt = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Manifest

/** What a new user writes first; it uses a typed record, a refusal's code and the converters. */
const EXAMPLE = `
import {
  createLocalBook, createRestClient, OutcomeUnknown, randomNonce, signOrder, toEngineTerms, toTraderTerms, VenueRefused,
  type MarketEntry, type OrderRecord,
} from 'venue-client'
import { privateKeyToAccount } from 'viem/accounts'

export async function bid(market: MarketEntry): Promise<OrderRecord | string> {
  const venue = createRestClient('http://127.0.0.1:8080')
  const signer = privateKeyToAccount(\`0x\${'01'.repeat(32)}\`)
  const domain = { chainId: 31337, matching: market.trade_module_address as \`0x\${string}\` }
  const terms = toEngineTerms(market, { side: 'buy', price: '1500', size: '10' })
  const shown: string = toTraderTerms(market, terms).price
  const expirySec = Math.floor(Date.now() / 1000) + 3600
  const order = { market, orderId: 'first-' + shown, subaccountId: '1', nonce: randomNonce(), expirySec }
  try {
    const placed = await venue.placeOrder(await signOrder(signer, domain, { ...order, ...terms }))
    // @ts-expect-error a status is one of five words
    if (placed.status === 'open') return 'never'
    return placed
  } catch (error) {
    if (error instanceof VenueRefused) return error.code
    if (error instanceof OutcomeUnknown) return (await venue.explainOrder(order.orderId)).text
    throw error
  }
}
export const levels: readonly { readonly price: string }[] = createLocalBook().levels('buy')
`

const STRICT = {
  compilerOptions: {
    target: 'es2022',
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    types: [],
    lib: ['es2022', 'dom'],
    // The declarations of viem do not all compile under these; those of the package are compiled below.
    skipLibCheck: true,
  },
}

/** How the tools of a project find modules: as Node does, and as bundlers do. */
const RESOLUTIONS = [
  { module: 'nodenext' },
  { module: 'preserve', moduleResolution: 'bundler', customConditions: ['browser'] },
]

/** Packed and installed as a user would, without a registry: viem is linked. */
describe('the package of the client', function () {
  let work: string
  let built: string
  let project: string
  before(async () => {
    work = await mkdtemp(join(tmpdir(), 'client-package-'))
    built = join(work, 'package')
    project = join(work, 'project')
    await buildClient(built)
    await mkdir(project)
    const npm = async (cwd: string, ...args: string[]) =>
      (
        await run('npm', [...args, '--offline', '--ignore-scripts', '--no-audit', '--no-fund'], {
          cwd,
        })
      ).stdout
    const tarball = (await npm(built, 'pack', '--pack-destination', work)).trim().split('\n').at(-1)
    await writeFile(
      join(project, 'package.json'),
      '{"name":"project","type":"module","private":true}',
    )
    await npm(project, 'install', '--legacy-peer-deps', join(work, tarball ?? ''))
    await symlink(join(modules, 'viem'), join(project, 'node_modules/viem'))
  })
  after(() => rm(work, { recursive: true, force: true }))

  it('has the version of the venue, and needs viem alone, in the version that is tested', () => {
    const own = manifestAt(join(built, 'package.json'))
    const whole = manifestAt(join(root, 'package.json'))
    expect(own.version).to.equal(whole.version)
    expect(own.dependencies).to.equal(undefined)
    expect(own.peerDependencies).to.deep.equal({ viem: `^${whole.dependencies?.viem}` })
  })

  it('is in the form that tools expect', async () => {
    const { messages, pkg } = await publint({ pkgDir: built, strict: true })
    expect(messages.map((message) => formatMessage(message, pkg))).to.deep.equal([])
  })

  it('compiles an example and that of its page in an empty strict project, however modules are found, and its own declarations', async () => {
    const tsc = join(modules, 'typescript-7/bin/tsc')
    const page = readFileSync(join(root, 'client/README.md'), 'utf8')
    const [, ofPage = ''] = /```ts\n([^]*?)```/.exec(page) ?? []
    expect(ofPage).to.include('placeOrder')
    await writeFile(join(project, 'of-page.ts'), ofPage)
    await writeFile(join(project, 'example.ts'), EXAMPLE)
    await writeFile(
      join(project, 'page.ts'),
      EXAMPLE.replace('venue-client', 'venue-client/browser'),
    )
    for (const resolution of RESOLUTIONS) {
      const compilerOptions = { ...STRICT.compilerOptions, ...resolution }
      const config = { compilerOptions, files: ['example.ts', 'page.ts', 'of-page.ts'] }
      await writeFile(join(project, 'tsconfig.json'), JSON.stringify(config))
      await run(process.execPath, [tsc, '-p', project])
    }
    const types = join(project, 'node_modules/venue-client/lib/types')
    // As sources of the project the declarations are checked.
    await cp(types, join(project, 'types'), { recursive: true })
    const files = ['types/client/index.d.ts']
    const compilerOptions = { ...STRICT.compilerOptions, ...RESOLUTIONS[0], skipLibCheck: false }
    const own = { compilerOptions, files }
    await writeFile(join(project, 'tsconfig.json'), JSON.stringify(own))
    const checked = await run(process.execPath, [tsc, '-p', project]).catch(
      (error: { stdout?: string }) => ({ stdout: error.stdout ?? '' }),
    )
    expect(checked.stdout.split('\n').filter((line) => /^(\.\/)?types\//.test(line))).to.deep.equal(
      [],
    )
  })

  it('shows an editor types with names, and what each field means', () => {
    const file = join(project, 'node_modules/venue-client/lib/types/client/index.d.ts')
    const program = ts.createProgram([file], { strict: true, noEmit: true, types: [] })
    const checker = program.getTypeChecker()
    const source = program.getSourceFile(file)
    const module = source && checker.getSymbolAtLocation(source)
    const exported = module === undefined ? [] : checker.getExportsOfModule(module)
    const shown = (type: string, field: string): readonly [string, string] => {
      const alias = exported.find(({ name }) => name === type)
      const symbol = alias && checker.getAliasedSymbol(alias)
      const property = symbol && checker.getDeclaredTypeOfSymbol(symbol).getProperty(field)
      if (property?.valueDeclaration === undefined) throw new Error(`no ${type}.${field}`)
      const declared = (property.valueDeclaration as ts.PropertySignature).type?.getText() ?? ''
      return [declared, ts.displayPartsToString(property.getDocumentationComment(checker))]
    }
    expect(shown('OrderRecord', 'filled_amount')).to.deep.equal([
      'string',
      'Its own fills, settled on chain.',
    ])
    expect(shown('OrderRecord', 'status')[0]).to.equal('OrderStatus')
    expect(shown('OrderHistoryPage', 'orders')[0]).to.equal('readonly OrderRecord[]')
    expect(shown('NewOrder', 'side')).to.deep.equal([
      'Side | undefined',
      'Engine side; derived when `ui_intent` is sent.',
    ])
    expect(shown('VenueFacts', 'limits')[1]).to.match(/^Bounds of requests/)
    expect(shown('ReplaceAnswer', 'replaced')[1]).to.match(/^The other one/)
  })

  it('is imported by Node, and for browsers needs no other module', async () => {
    const code =
      "import * as client from 'venue-client'; console.log(typeof client.createRestClient)"
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', code], {
      cwd: project,
    })
    expect(stdout).to.equal('function\n')
    const browser = join(project, 'node_modules/venue-client/lib/browser.js')
    const text = readFileSync(browser, 'utf8')
    expect(ts.preProcessFile(text).importedFiles).to.deep.equal([])
    expect(text.length).to.be.below(400_000)
  })
})
