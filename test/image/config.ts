import { spawnSync } from 'node:child_process'

/** Arguments that Docker gives to every build where they are set. */
const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'FTP_PROXY', 'NO_PROXY', 'ALL_PROXY']
const PUBLIC_REGISTRY = 'https://registry.npmjs.org/'
/** Where test/image/enter.sh puts the machine's certificates. */
const CERTIFICATES = '/dev/certificates.pem'

/** How this machine reaches archives and registries, which no line of a Dockerfile says. */
export interface MachineNetwork {
  /** Settings of a RUN line beside those of the image. */
  readonly env: Readonly<Record<string, string>>
  /** A file of certificates beside those of the image. */
  readonly certificates: string | undefined
}

export function machineNetwork(env: NodeJS.ProcessEnv = process.env): MachineNetwork {
  const found: Record<string, string> = {}
  for (const name of PROXIES.flatMap((each) => [each, each.toLowerCase()])) {
    const value = env[name]
    if (value !== undefined) found[name] = value
  }
  const { stdout } = spawnSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' })
  const registry = (stdout ?? '').trim()
  if (registry !== '' && registry !== PUBLIC_REGISTRY) found.npm_config_registry = registry
  const certificates = env.NODE_EXTRA_CA_CERTS ?? env.SSL_CERT_FILE
  if (certificates !== undefined) found.NODE_EXTRA_CA_CERTS = CERTIFICATES
  return { env: found, certificates }
}
