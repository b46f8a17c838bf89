// page.mjs - looks at a report in a browser: page.mjs PAGE JSON HOSTILE FOLDER. Every expectation about
// marks comes from the report's own JSON; screenshots go to FOLDER.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const [page_file, json_file, hostile_file, folder] = process.argv.slice(2);
const report = JSON.parse(readFileSync(json_file, 'utf8'));
const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
        '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});

// A page in which every complaint and every request is remembered.
async function open(file, options) {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const seen = { complaints: [], requests: [] };
    page.on('console', m => seen.complaints.push(m.text()));
    page.on('pageerror', e => seen.complaints.push(String(e)));
    page.on('dialog', d => { seen.complaints.push('dialog'); d.dismiss(); });
    page.on('request', r => seen.requests.push(r.url()));
    const url = pathToFileURL(file).href;
    await page.goto(url, { waitUntil: 'load' });
    return { page, url, seen };
}

function quiet({ url, seen }) {
    assert.deepEqual(seen.complaints, []);
    assert.deepEqual(seen.requests.filter(r => !r.startsWith('data:')), [url]);
}

const near = (got, want, what) => assert.ok(Math.abs(got - want) < 0.02, `${what}: ${got}, want ${want}`);
const percent = text => Number(text.replace(/%$/, ''));

// --- what the plots show ---
const wide = await open(page_file, { viewport: { width: 1200, height: 900 }, colorScheme: 'light' });
const attributes = (selector, ...names) => wide.page.$$eval(selector,
    (nodes, names) => nodes.map(n => names.map(name => n.getAttribute(name))), names);

const configs = report.configs.filter(c => c.rate !== null);
const marks = await attributes('#chart-rates circle.mark', 'cx', 'class');
const lines = await attributes('#chart-rates line.interval', 'x1', 'x2');
const ticks = await wide.page.$$eval('#chart-rates .axis text', nodes => nodes.map(n => n.textContent));
const top = percent(ticks.at(-1)) / 100;
assert.ok(top >= Math.max(...configs.map(c => c.bound)), 'the axis holds every interval');
assert.equal(marks.length, configs.length);
assert.equal(lines.length, configs.length);
configs.forEach((c, i) => {
    near(percent(marks[i][0]), 100 * c.rate / top, `mark of ${c.name}`);
    near(percent(lines[i][0]), 100 * c.low / top, `lower end of ${c.name}`);
    near(percent(lines[i][1]), 100 * c.bound / top, `upper end of ${c.name}`);
    assert.equal(marks[i][1], c.corrupted > 0 ? 'mark bad' : 'mark none');
});
for (const name of ['first_bad', 'in_flight', 'ordinal']) {
    const bins = await attributes(`#chart-${name} circle.mark`, 'cy');
    assert.equal(bins.length, report[name].length, name);
    const highest = report[name].reduce((best, b, i) => b.rate > report[name][best].rate ? i : best, 0);
    assert.equal(Math.min(...bins.map(b => Number(b[0]))), Number(bins[highest][0]), `${name}: highest mark`);
}
const bars = await attributes('#chart-reasons rect.bar', 'width');
assert.equal(bars.length, report.reasons.length);
report.reasons.forEach((r, i) => near(percent(bars[i][0]) / percent(bars[0][0]),
    r.share / report.reasons[0].share, `bar of ${r.reason}`));
const damaged = report.timeline.reduce((n, s) => n + Math.min(9, s.corrupted), 0);
assert.equal((await attributes('#chart-timeline circle.mark', 'cx')).length, damaged);
assert.equal((await attributes('#chart-latency line.median', 'x1')).length, report.latency.length);
assert.equal((await attributes('#chart-matrix td.cell', 'class')).length, report.matrix.length);
// Labels are legible and do not touch their neighbours.
const labels = await wide.page.$$eval('svg.strip, svg.plot', plots => plots.map(svg =>
    [...svg.querySelectorAll('text[text-anchor="middle"]')].map(t => t.getBoundingClientRect())
        .filter(b => b.width > 0).map(b => [b.left, b.right, b.height])));
for (const row of labels)
    row.forEach(([left, , height], i) => {
        assert.ok(height >= 10, 'a label is too small');
        assert.ok(i === 0 || left >= row[i - 1][1], 'labels overlap');
    });
// Plots of one chart stand below each other.
const edges = await wide.page.$$eval('#chart-rates svg.strip', nodes => nodes.map(n => n.getBoundingClientRect()).map(b => [b.left, b.right]));
assert.ok(edges.every(e => Math.abs(e[0] - edges[0][0]) < 1 && Math.abs(e[1] - edges[0][1]) < 1), 'plots in line');

// --- figures and transcripts open ---
const figures = wide.page.locator('#chart-rates details.figures');
assert.equal(await figures.locator('table').isVisible(), false);
await figures.locator('summary').click();
assert.equal(await figures.locator('tbody tr').count(), report.configs.length);
assert.equal(await figures.locator('table').isVisible(), true);
const first = report.damaged[0];
const session = wide.page.locator(`#s-${first.run}-${first.session}`);
assert.equal(await session.locator('pre').isVisible(), false);
await session.locator('summary').click();
assert.equal(await session.locator('pre').isVisible(), true);
assert.match(await session.locator('pre').innerText(), new RegExp(`session ${first.session} of run ${first.run}`));
assert.ok(await wide.page.locator('details.session span.damage').count() > 0, 'damage is marked');
assert.equal(await wide.page.locator('details.session').count(), Math.min(60, report.damaged.length));
for (const link of await wide.page.$$eval('nav a', nodes => nodes.map(n => n.getAttribute('href'))))
    assert.equal(await wide.page.locator(link).count(), 1, `${link} leads nowhere`);
await wide.page.screenshot({ path: `${folder}/light.png`, fullPage: true });
quiet(wide);

// --- dark, narrow ---
const colours = page => page.evaluate(() => {
    const luminance = colour => {
        const [r, g, b] = colour.match(/[\d.]+/g).map(Number)
            .map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const back = luminance(getComputedStyle(document.body).backgroundColor);
    const contrast = selector => {
        const node = document.querySelector(selector), style = getComputedStyle(node);
        const ink = luminance(node.closest('svg') ? style.fill : style.color);
        return (Math.max(ink, back) + 0.05) / (Math.min(ink, back) + 0.05);
    };
    return { back, contrasts: ['.headline', 'figcaption', 'svg text', '.value', 'svg .mark.bad', 'nav a'].map(contrast) };
});
const light = await colours(wide.page);
assert.ok(light.back > 0.9);
for (const width of [1200, 360]) {
    const dark = await open(page_file, { viewport: { width, height: 800 }, colorScheme: 'dark' });
    const seen = await colours(dark.page);
    assert.ok(seen.back < 0.1, 'dark is dark');
    for (const contrast of [...light.contrasts, ...seen.contrasts])
        assert.ok(contrast >= 4.5, `contrast ${contrast}`);
    await dark.page.screenshot({ path: `${folder}/dark-${width}.png`, fullPage: true });
    quiet(dark);
}
for (const [file, name] of [[page_file, 'narrow'], [hostile_file, 'hostile']]) {
    const narrow = await open(file, { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true });
    await narrow.page.$$eval('details', nodes => nodes.forEach(n => { n.open = true; }));
    const [inner, scroll] = await narrow.page.evaluate(() => [innerWidth, document.documentElement.scrollWidth]);
    assert.equal(inner, 360, `${name}: the page was made smaller to fit`);
    assert.ok(scroll <= 360, `${name}: ${scroll} pixels wide`);
    const plot = await narrow.page.locator('#chart-rates svg.strip').first().boundingBox();
    assert.ok(plot.width > 250, `${name}: the plot has ${plot.width} pixels`);
    // All of it open is taller than a picture may be.
    await narrow.page.$$eval('details', nodes => nodes.forEach((n, i) => { n.open = i % 9 === 0; }));
    await narrow.page.screenshot({ path: `${folder}/${name}.png`, clip: { x: 0, y: 0, width: 360, height: 5000 } });
    assert.equal(await narrow.page.$$eval('script, img, iframe, object, link:not([rel=icon])', n => n.length), 0);
    quiet(narrow);
}
await browser.close();
