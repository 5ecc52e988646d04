"use strict";
(function () {
  var say = document.getElementById("said");
  function value(row, i) {
    var text = row.cells[i].textContent.trim();
    var n = parseFloat(text.replace(/[\s\u202f]/g, "").replace(/^[^\d.+-]+/, ""));
    return { text: text, n: n, none: /^(nan%?|\u2013|)$/i.test(text) };
  }
  function sort(table, th, i) {
    var body = table.tBodies[0];
    var rows = Array.prototype.map.call(body.rows, function (r) {
      return { row: r, v: value(r, i) };
    });
    var numbers = rows.every(function (r) { return r.v.none || !isNaN(r.v.n); });
    var was = th.getAttribute("aria-sort");
    var up = was === "none" ? !numbers : was === "descending";
    rows.sort(function (a, b) {
      if (a.v.none !== b.v.none) return a.v.none ? 1 : -1;
      var d = numbers && !a.v.none ? a.v.n - b.v.n
        : a.v.text.localeCompare(b.v.text, "en", { numeric: true });
      return up ? d : -d;
    });
    rows.forEach(function (r) { body.appendChild(r.row); });
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (c) {
      if (c.hasAttribute("aria-sort")) c.setAttribute("aria-sort", "none");
    });
    th.setAttribute("aria-sort", up ? "ascending" : "descending");
    if (say) say.textContent = "Sorted by " + th.textContent + ", " + th.getAttribute("aria-sort");
  }
  document.querySelectorAll("table.sort").forEach(function (table) {
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (th, i) {
      var button = document.createElement("button");
      button.type = "button";
      while (th.firstChild) button.appendChild(th.firstChild);
      th.appendChild(button);
      th.setAttribute("aria-sort", "none");
      button.addEventListener("click", function () { sort(table, th, i); });
    });
  });
  var opened = [];
  addEventListener("beforeprint", function () {
    opened = Array.prototype.slice.call(document.querySelectorAll("details:not([open])"));
    opened.forEach(function (d) { d.open = true; });
  });
  addEventListener("afterprint", function () {
    opened.forEach(function (d) { d.open = false; });
  });
})();
