import type { JsonObject, JsonValue } from './json.ts';

/** Fields that make an answer depend on state elsewhere or on the moment, with when they do. */
const LIVE_FIELDS: ReadonlyMap<string, (value: JsonValue) => boolean> = new Map<string, (value: JsonValue) => boolean>([
  ['previous_response_id', isSet],
  ['conversation', isSet],
  ['background', isOn],
  ['deferred', isOn],
  ['web_search_options', isSet],
  ['search_parameters', searches],
  ['enable_search', isOn],
  ['web_search', isOn],
  ['search_mode', isOn],
  ['data_sources', isOn],
  ['mcp_servers', isOn],
  ['plugins', isFilled],
  ['connectors', isFilled],
]);

/** The field for which an answer must be neither reused nor stored; empty when there is none. */
export function liveField(tree: JsonObject): string {
  for (const name of tree.keys()) {
    if (LIVE_FIELDS.get(name)?.(tree.get(name) as JsonValue) === true) return name;
  }
  const tools = tree.get('tools');
  if (!Array.isArray(tools)) return '';
  for (let i = 0; i < tools.length; i++) if (!runsAtTheClient(tools[i] as JsonValue)) return `tools[${i}].type`;
  return '';
}

/** Every kind of tool but these two runs at the server, or may: then the answer depends on more than the request. */
function runsAtTheClient(tool: JsonValue): boolean {
  const type = tool instanceof Map ? tool.get('type') : undefined;
  return type === 'function' || type === 'custom';
}

function isSet(value: JsonValue): boolean {
  return value !== null && value !== false && value !== '';
}

/** An empty object counts too: to some servers it means that the defaults will do. */
function isOn(value: JsonValue): boolean {
  return isFilled(value) && value !== 0 && value !== 'off';
}

function isFilled(value: JsonValue): boolean {
  return Array.isArray(value) ? value.length > 0 : isSet(value);
}

function searches(value: JsonValue): boolean {
  return isSet(value) && !(value instanceof Map && value.get('mode') === 'off');
}
