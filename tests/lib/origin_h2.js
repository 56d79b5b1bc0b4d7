// SPDX-License-Identifier: GPL-2.0-or-later
// An HTTP/2 server outside. usage: origin_h2.js ADDRESS PORT KEY CERTIFICATE LOG READY_FILE
const http2 = require('http2'), fs = require('fs');
const [address, port, key, cert, log, ready] = process.argv.slice(2);
const server = http2.createSecureServer({ key: fs.readFileSync(key), cert: fs.readFileSync(cert) });
server.on('stream', (stream, headers) => {
  let bytes = 0;
  stream.on('data', data => { bytes += data.length; });
  stream.on('end', () => {
    fs.appendFileSync(log, `http2 ${headers[':method']} ${headers[':path']} ${bytes}\n`);
    stream.respond({ ':status': 200 });
    stream.end(`h2 got ${bytes}\n`);
  });
  stream.on('error', () => {});
});
server.on('error', error => { console.error(error); process.exit(1); });
server.listen(Number(port), address, () => fs.writeFileSync(ready, ''));
