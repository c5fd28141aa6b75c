// What a reader of a report must find, measured in the page as it is shown: a list of lines, each a
// fault.
// SPDX-License-Identifier: Apache-2.0
(() => {
  const faults = [];
  const say = (...words) => { if (faults.length < 40) faults.push(words.join(' ')); };
  const short = text => JSON.stringify(text.trim().slice(0, 40));

  const rgba = color => {
    const numbers = (color.match(/[\d.]+/g) || []).map(Number);
    return [numbers[0] || 0, numbers[1] || 0, numbers[2] || 0,
            numbers.length > 3 ? numbers[3] : 1];
  };
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map(c => {
      c /= 255;
      return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const contrast = (a, b) => {
    const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05);
  };
  const ground = element => {
    for (let each = element; each; each = each.parentElement) {
      const color = rgba(getComputedStyle(each).backgroundColor);
      if (color[3] > 0.99) return color;
    }
    return [255, 255, 255, 1];
  };

  // Nothing is wider than the window.
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth) {
    say('the page is', root.scrollWidth, 'wide in a window of', innerWidth);
    for (const each of document.querySelectorAll('body *')) {
      const box = each.getBoundingClientRect();
      if (box.right > innerWidth + 1 && !each.closest('.scroll')) {
        say('  beyond the edge:', each.tagName, each.className, Math.round(box.right));
      }
    }
  }

  // Text: large enough, and against its ground.
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, element = node.parentElement;
    if (!node.data.trim() || element.closest('script, style, title, desc')) continue;
    if (!element.getClientRects().length) continue;
    const style = getComputedStyle(element);
    let size = parseFloat(style.fontSize);
    const drawn = element.closest('svg');
    if (drawn) {
      const matrix = element.getScreenCTM();
      size *= Math.sqrt(Math.abs(matrix.a * matrix.d - matrix.b * matrix.c));
    }
    if (size < 10.99) say('text of', size.toFixed(1), 'pixels:', short(node.data));
    const ratio = contrast(rgba(drawn ? style.fill : style.color), ground(element));
    if (ratio < 4.5) say('contrast of', ratio.toFixed(2), 'only:', short(node.data));
  }

  // Pictures: there, of a size, not scaled down on a screen, texts apart and within.
  for (const figure of document.querySelectorAll('figure')) {
    const svg = figure.querySelector('svg.picture');
    if (!svg) {
      if (!figure.querySelector('.missing, .alt')) say('nothing in figure', figure.id);
      continue;
    }
    const box = svg.getBoundingClientRect();
    if (box.width < 1 || box.height < 1) say('no size:', figure.id);
    if (!matchMedia('print').matches && box.width < 359) say('scaled down:', figure.id, box.width);
    const texts = [...svg.querySelectorAll('text')];
    const boxes = texts.map(text => text.getBoundingClientRect());
    texts.forEach((text, i) => {
      const a = boxes[i];
      if (a.left < box.left - 1 || a.right > box.right + 1 || a.top < box.top - 1 ||
          a.bottom > box.bottom + 1) {
        say('text leaves', figure.id + ':', short(text.textContent));
      }
      const turned = text.parentElement.getAttribute('transform') || '';
      if (turned.includes('rotate')) return;  // its box is not its shape
      for (let j = 0; j < i; ++j) {
        const b = boxes[j];
        if ((texts[j].parentElement.getAttribute('transform') || '').includes('rotate')) continue;
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (across > 1 && down > 4) {
          say('texts meet in', figure.id + ':', short(texts[j].textContent),
              short(text.textContent));
        }
      }
    });
    for (const use of svg.querySelectorAll('use[href]')) {
      if (!document.getElementById(use.getAttribute('href').slice(1))) {
        say('no mark', use.getAttribute('href'));
      }
    }
  }

  // Lines of series against the page.
  const variable = name => {
    const probe = document.createElement('i');
    probe.style.color = `var(${name})`;
    document.body.append(probe);
    const color = rgba(getComputedStyle(probe).color);
    probe.remove();
    return color;
  };
  for (let i = 0; i < 8; ++i) {
    const ratio = contrast(variable(`--series-${i}`), variable('--page'));
    if (ratio < 3) say('series', i, 'has a contrast of', ratio.toFixed(2));
  }

  // Ids are unique, and what refers to them finds them.
  const ids = new Set();
  for (const each of document.querySelectorAll('[id]')) {
    if (ids.has(each.id)) say('id twice:', each.id);
    ids.add(each.id);
  }
  for (const each of document.querySelectorAll('[aria-labelledby]')) {
    for (const id of each.getAttribute('aria-labelledby').split(' ')) {
      if (!ids.has(id)) say('no element named', id);
    }
  }
  for (const link of document.querySelectorAll('a[href]')) {
    const target = link.getAttribute('href');
    if (!target.startsWith('#') || !ids.has(target.slice(1))) say('link to nowhere:', target);
  }
  if (document.querySelector('script')) say('there is a script');

  // Columns say what they mean: on a click, and on paper.
  const open = matchMedia('print').matches;
  for (const list of document.querySelectorAll('.columns')) {
    const shown = getComputedStyle(list).display !== 'none';
    if (shown !== open) say('meanings are', shown ? 'open' : 'closed', list.parentElement.id);
    if (open) continue;
    list.previousElementSibling.open = true;
    if (getComputedStyle(list).display === 'none') say('cannot be opened:', list.parentElement.id);
    list.previousElementSibling.open = false;
  }
  const count = selector => document.querySelectorAll(selector).length;
  return {faults, pictures: count('figure svg.picture'),
          missing: count('figure .missing'), figures: count('figure'), tables: count('table')};
})()
