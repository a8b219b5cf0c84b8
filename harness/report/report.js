// The charts of report.html, by d3 (version 3, as Debian has it). Each <figure class="chart"> holds
// its data as JSON, and the table beside it says the same in numbers: without scripts nothing is
// lost.
(function() {
'use strict';

// Labels stand above their marks, so that a phone needs no smaller type.
// The column at the right is for values.
var ROW = 30, LINE = 14, TOP = 22, WIDE = 760, NARROW = 340, VALUE = 96, NARROW_VALUE = 64;
// On a phone a label may reach above that column: its marks are so much lower, and there is as much
// again below them.
var LOWER = 4;

// A label on a phone: two lines where it says what was compared, then which with which.
function lines(f, name) {
  var at = f.width === NARROW ? name.indexOf(': ') : -1;
  return at < 0 ? [name] : [name.slice(0, at + 1), name.slice(at + 2)];
}

function frame(figure, data) {
  var narrow = figure.clientWidth && figure.clientWidth < 520;
  var f = {width: narrow ? NARROW : WIDE, value: narrow ? NARROW_VALUE : VALUE};
  f.lines = d3.max(data, (d) => lines(f, d.name).length);
  f.marks =
      (f.lines - 1) * LINE + (narrow ? LOWER : 0);  // below where they are with a label of one line
  f.row = ROW + f.marks + (narrow ? LOWER : 0);
  f.height = TOP + data.length * f.row;
  d3.select(figure).select('svg').remove();
  f.svg = d3.select(figure)
              .append('svg')
              .attr('viewBox', '0 0 ' + f.width + ' ' + (f.height + 8))
              .attr('role', 'img')
              .attr('aria-label', figure.getAttribute('aria-label'));
  return f;
}

function axis(f, scale, ticks, format) {
  f.svg.append('g')
      .attr('class', 'axis')
      .attr('transform', 'translate(0,' + (TOP - 6) + ')')
      .call(d3.svg.axis().scale(scale).orient('top').tickValues(ticks).tickFormat(format).tickSize(
          -(f.height - TOP + 10)));
}

function row(f, data) {
  return f.svg.selectAll('.row')
      .data(data)
      .enter()
      .append('g')
      .attr('class', 'row')
      .attr('transform', (d, i) => 'translate(0,' + (TOP + i * f.row) + ')');
}

// What follows in a row is drawn below its label: in the group that this returns.
function label(rows, f, value) {
  for (var n = 0; n < f.lines; ++n) {
    rows.append('text')
        .attr('x', 14)
        .attr('y', 13 + n * LINE)
        .text((d) => lines(f, d.name)[n] || '');
  }
  var marks = rows.append('g').attr('transform', 'translate(0,' + f.marks + ')');
  marks.append('text').attr('x', f.width - 4).attr('y', 24).attr('text-anchor', 'end').text(value);
  return marks;
}

// Share of the error bound, a bar a property.
function budget(figure, data) {
  var f = frame(figure, data);
  var x = d3.scale.linear().domain([0, Math.max(1, d3.max(data, (d) => d.budget))]).range([
    14, f.width - f.value
  ]);
  axis(f, x, [0, 0.25, 0.5, 0.75, 1], d3.format('.2f'));
  f.svg.append('line')
      .attr('class', 'bound')
      .attr('x1', x(1))
      .attr('x2', x(1))
      .attr('y1', TOP - 6)
      .attr('y2', f.height + 4);
  var rows = label(row(f, data), f, (d) => d3.format('.3f')(d.budget));
  rows.append('rect')
      .attr('class', (d) => d.budget > 1 ? 'bar full' : 'bar')
      .attr('x', x(0))
      .attr('y', 17)
      .attr('height', 7)
      .attr('rx', 2)
      .attr('width', (d) => Math.max(1, x(d.budget) - x(0)));
}

// Ratio of two durations with its interval, on a logarithmic scale; the grey band counts as the
// same.
function ratio(figure, data) {
  var f = frame(figure, data);
  var low = d3.min(data, (d) => Math.min(d.low, 1 / (1 + d.band)));
  var high = d3.max(data, (d) => Math.max(d.high, 1 + d.band));
  var x = d3.scale.log().domain([low / 1.05, high * 1.05]).range([14, f.width - f.value]);
  // The rounder a number, the sooner it has its place; what would touch another's has none.
  var ticks = [];
  [1, 0.1, 10, 0.01, 100, 0.5, 2, 0.2, 5, 0.05, 0.02, 20, 50, 0.7, 1.5, 3, 0.8, 1.25, 0.9, 1.1]
      .forEach(function(t) {
        if (t < low / 1.05 || t > high * 1.05) return;
        if (ticks.every((other) => Math.abs(x(t) - x(other)) > 34)) ticks.push(t);
      });
  axis(f, x, ticks, (t) => '\u00d7' + t);
  var rows =
      label(row(f, data), f, (d) => '\u00d7' + d3.format(d.ratio < 0.1 ? '.3g' : '.3f')(d.ratio));
  rows.append('rect')
      .attr('class', 'band')
      .attr('y', 14)
      .attr('height', 14)
      .attr('x', (d) => x(1 / (1 + d.band)))
      .attr('width', (d) => x(1 + d.band) - x(1 / (1 + d.band)));
  rows.append('line')
      .attr('class', (d) => 'whisker ' + d.verdict.toLowerCase())
      .attr('x1', (d) => x(d.low))
      .attr('x2', (d) => x(d.high))
      .attr('y1', 21)
      .attr('y2', 21);
  rows.append('circle')
      .attr('class', (d) => 'dot ' + d.verdict.toLowerCase())
      .attr('cx', (d) => x(d.ratio))
      .attr('cy', 21)
      .attr('r', 4);
}

// A duration with its interval, from 0, so that lengths can be compared.
function duration(figure, data) {
  var f = frame(figure, data);
  var x = d3.scale.linear().domain([0, d3.max(data, (d) => d.high)]).nice().range([
    14, f.width - f.value
  ]);
  axis(f, x, x.ticks(f.width === NARROW ? 3 : 5), (t) => t + ' \u00b5s');
  var rows = label(row(f, data), f, (d) => d3.format('.1f')(d.median) + ' \u00b5s');
  rows.append('rect')
      .attr('class', 'bar')
      .attr('x', x(0))
      .attr('y', 17)
      .attr('height', 7)
      .attr('rx', 2)
      .attr('width', (d) => x(d.median) - x(0));
  rows.append('line')
      .attr('class', 'whisker')
      .attr('y1', 20.5)
      .attr('y2', 20.5)
      .style('stroke', 'var(--ink)')
      .attr('x1', (d) => x(d.low))
      .attr('x2', (d) => x(d.high));
}

// Bits of a term that are kept below the largest exponent, a bar a unit; the mark is the last bit
// of a sum.
function kept(figure, data) {
  var f = frame(figure, data);
  var most = d3.max(data, (d) => Math.max(d.bits, d.sum));
  var x = d3.scale.linear().domain([0, most + 1]).range([14, f.width - 2 * f.value]);
  axis(f, x, x.ticks(f.width === NARROW ? 4 : 8), (t) => t === 0 ? 'largest' : '2^-' + t);
  var rows = label(row(f, data), f, (d) => d.bits + ' bits, ' + d.at_once + ' at once');
  rows.append('rect')
      .attr('class', 'bar')
      .attr('x', x(0))
      .attr('y', 17)
      .attr('height', 7)
      .attr('rx', 2)
      .attr('width', (d) => x(d.bits) - x(0));
  rows.filter((d) => d.sum > 0)
      .append('line')
      .attr('class', 'sum')
      .attr('x1', (d) => x(d.sum))
      .attr('x2', (d) => x(d.sum))
      .attr('y1', 16)
      .attr('y2', 27);
}

// ---- The ledger's tables: by any column, and of those properties alone that one asks for ----

function each(list, f) {
  Array.prototype.forEach.call(list, f);
}

function sortable(table) {
  var heads = table.querySelectorAll('th');
  each(heads, function(head, column) {
    head.classList.add('sorts');
    head.addEventListener('click', function() {
      var down = head.classList.contains('up');
      each(heads, function(other) {
        other.classList.remove('up', 'down');
      });
      head.classList.add(down ? 'down' : 'up');
      var body = table.tBodies[0], rows = [], last = [];
      each(body.rows, function(r) {
        (r.classList.contains('sum') ? last : rows).push(r);
      });
      rows.sort(function(a, b) {
        var x = a.cells[column].textContent, y = b.cells[column].textContent,
            numbers = !isNaN(parseFloat(x)) && !isNaN(parseFloat(y));
        return (numbers   ? parseFloat(x) - parseFloat(y) :
                    x < y ? -1 :
                    x > y ? 1 :
                            0) *
            (down ? -1 : 1);
      });
      rows.concat(last).forEach(function(r) {
        body.appendChild(r);
      });
    });
  });
}
each(document.querySelectorAll('table.sortable'), sortable);

function filtered(filter) {
  var text = filter.querySelector('input[type=search]'),
      red = filter.querySelector('input[type=checkbox]');
  var counted = filter.querySelector('.soft'),
      details = filter.parentNode.querySelectorAll('details'), was = null;
  function show() {
    var wanted = text.value.toLowerCase(), all = !wanted && !red.checked, count = 0;
    // What was open before is open again afterwards.
    if (was === null) was = Array.prototype.map.call(details, (d) => d.open);
    each(details, function(d, n) {
      var here = 0;
      each(d.querySelectorAll('tr.property'), function(row) {
        var fits = row.textContent.toLowerCase().indexOf(wanted) >= 0 &&
            (!red.checked || row.querySelector('.fail, .not-run, .waived'));
        row.hidden = !fits;
        here += fits ? 1 : 0;
      });
      count += here;
      d.hidden = !all && here === 0;
      d.open = all ? was[n] : here > 0;
    });
    if (all) was = null;
    counted.textContent = all ? '' : count + (count === 1 ? ' property' : ' properties');
  }
  text.addEventListener('input', show);
  red.addEventListener('change', show);
  filter.hidden = false;
}
each(document.querySelectorAll('.filter'), filtered);

var kinds = {kept: kept, budget: budget, ratio: ratio, duration: duration};
function draw() {
  Array.prototype.forEach.call(document.querySelectorAll('figure.chart'), function(figure) {
    kinds[figure.getAttribute('data-kind')](figure, JSON.parse(figure.getAttribute('data-rows')));
  });
}
draw();
window.addEventListener('resize', draw);
// On paper everything is open.
window.addEventListener('beforeprint', function() {
  Array.prototype.forEach.call(document.querySelectorAll('details'), function(d) {
    d.open = true;
  });
});
})();
