#pragma once

#include <string>
#include <vector>

#include "headway/doctor/verdict.h"
#include "headway/view/canvas.h"

namespace headway {

// Inside view/: shared by the live frames of a run on Headway and of a watched process.

std::string repeated(std::string_view glyph, int n);
std::string percent(double share);
// That share of `whole`, from 0 to `whole`; 0 when the share is not a number.
int part_of(double share, int whole);

// Draws what is watched (left), for how long (right) and the verdict below; returns the next row.
int put_head(Canvas& canvas, const std::string& what, double seconds, const Verdict& verdict);
// "######......"
void put_meter(Canvas& canvas, int x, int y, int width, double share, Ink ink);
// Severity, summary, evidence and fix of as many findings as fit.
void put_findings(Canvas& canvas, int y, const std::vector<Finding>& findings);
std::string text_of(const Canvas& canvas, bool color);

}  // namespace headway
