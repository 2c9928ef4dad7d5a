// The data of the page: one text for each gzipped pack, in base64. Files are packed as a table of their places, then their bytes (build.mjs).
export async function gunzip(base64, type) {
  const packed = await fetch(`data:application/octet-stream;base64,${base64}`);
  return new Response(packed.body.pipeThrough(new DecompressionStream('gzip')), { headers: { 'content-type': type } });
}

// Resolves to a map from path to bytes.
export async function unpackFiles(base64) {
  const buffer = await (await gunzip(base64, 'application/octet-stream')).arrayBuffer();
  const nTable = new DataView(buffer).getUint32(0);
  const table = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, nTable)));
  let at = 4 + nTable;
  return new Map(table.map(([path, n]) => {
    at += n;
    return [path, new Uint8Array(buffer, at - n, n)];
  }));
}
