import { variable, type Environment } from './environment.ts';
import { Secret } from './secret.ts';

/** What the environment tells a client of a running node, and the tools beside it; an absent field is not set. */
export interface ClientSettings {
  /** `host:port` of the node's gRPC server, from `REPRISE_ADDRESS`. */
  readonly address?: string;
  /** From `REPRISE_API_KEY`, else `REPRISE_ADMIN_TOKEN`. */
  readonly credential?: Secret;
  /** Port that a node started with the same environment would take, from `REPRISE_GRPC_PORT`. */
  readonly grpcPort?: string;
  /** Folder of the tests' data, from `REPRISE_TEST_DATA`. */
  readonly testData?: string;
}

/** Reads the settings of a client; `env` is the process's own unless given. */
export function clientSettings(env: Environment = process.env): ClientSettings {
  const address = variable(env, 'REPRISE_ADDRESS');
  const credential = variable(env, 'REPRISE_API_KEY') ?? variable(env, 'REPRISE_ADMIN_TOKEN');
  const grpcPort = variable(env, 'REPRISE_GRPC_PORT');
  const testData = variable(env, 'REPRISE_TEST_DATA');
  return {
    ...(address !== undefined && { address }),
    ...(credential !== undefined && { credential: new Secret(credential) }),
    ...(grpcPort !== undefined && { grpcPort }),
    ...(testData !== undefined && { testData }),
  };
}

/** Variables that say where the embedding model is and how it runs, and whether it is wanted. */
const EMBEDDING_VARIABLES = [
  'REPRISE_DATA_DIR',
  'REPRISE_SEMANTIC',
  'REPRISE_EMBEDDER_THREADS',
  'REPRISE_EXECUTION_PROVIDERS',
];

/** The part of the environment that concerns the embedding model: for a node that takes nothing else from its surroundings. */
export function embeddingEnvironment(env: Environment = process.env): Environment {
  return Object.fromEntries(EMBEDDING_VARIABLES.map((name) => [name, env[name]]));
}
